-- What a run is made with, and what a resume changed of it.

-- By name: reader, rules, facts, each prompt. {} in runs that began before this was written down.
ALTER TABLE reprise.runs ADD COLUMN versions jsonb NOT NULL DEFAULT '{}';

-- {"accepted": [[name, before, now], …], "models": {step: name}, "checked": {…}}: what this resume was told and saw.
ALTER TABLE reprise.resumes ADD COLUMN changes jsonb NOT NULL DEFAULT '{}';

-- A document that is done and whose file is not what was read any more: why, for whoever reads its findings; else ''.
ALTER TABLE reprise.run_document ADD COLUMN stale text NOT NULL DEFAULT '';
