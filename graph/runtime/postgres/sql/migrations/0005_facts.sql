-- What a document states about itself lies beside its findings: one artifact a document.
ALTER TABLE reprise.run_document ADD COLUMN facts_ref text NOT NULL DEFAULT '';
