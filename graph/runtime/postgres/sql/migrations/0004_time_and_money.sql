-- Time and money: the slow lane, heartbeats, estimates.

-- A document whose batch closed without it; it stays one of the slow lane, whatever becomes of it there.
ALTER TABLE reprise.run_document ADD COLUMN slow boolean NOT NULL DEFAULT false;
CREATE INDEX run_document_slow ON reprise.run_document (run_id, ordinal) WHERE slow;

-- Of the time between started_at and finished_at: what the call waited for its turn at the endpoint.
ALTER TABLE reprise.calls ADD COLUMN waited_ms integer NOT NULL DEFAULT 0;

CREATE TABLE reprise.heartbeats (
    beat_id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id    text NOT NULL REFERENCES reprise.runs ON DELETE CASCADE,
    thread_id text NOT NULL,
    owner     text NOT NULL,                  -- the process that drives
    at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    documents integer NOT NULL,               -- settled: done, failed or skipped
    pages     integer NOT NULL,
    usd       numeric NOT NULL
);
CREATE INDEX heartbeats_run ON reprise.heartbeats (run_id, beat_id DESC);

CREATE TRIGGER fence BEFORE INSERT OR UPDATE ON reprise.heartbeats FOR EACH ROW EXECUTE FUNCTION reprise.fence();

-- What a dry run said of these inputs; compared with what a run of them took.
CREATE TABLE reprise.estimates (
    matter          text NOT NULL,
    inputs          text NOT NULL,            -- sha256 of the frozen document list
    playbook_sha256 text NOT NULL,
    engine          text NOT NULL,
    estimate        text NOT NULL,            -- sha256 of the artifact
    made_at         timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (matter, inputs, playbook_sha256, engine)
);
