-- Effects that are not done: how often they were tried, and what was wrong the last time.

ALTER TABLE reprise.effects ADD COLUMN attempts integer NOT NULL DEFAULT 0;
ALTER TABLE reprise.effects ADD COLUMN error text NOT NULL DEFAULT '';
