-- What the places of a document are counted in: pages, or sections where its format has no pages.

ALTER TABLE reprise.run_document ADD COLUMN unit text NOT NULL DEFAULT 'page';
