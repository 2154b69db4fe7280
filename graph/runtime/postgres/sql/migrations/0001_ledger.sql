-- The ledger: what was done to the world, and what is done per document.
-- thread_id is text, as in LangGraph's own tables.

CREATE TABLE reprise.leases (
    thread_id   text PRIMARY KEY,
    owner       text NOT NULL,              -- the process that drives, or drove last
    host        text NOT NULL,
    host_key    text NOT NULL,              -- tells two machines, boots and pid namespaces apart
    pid         integer NOT NULL,
    pid_started double precision NOT NULL,  -- a pid that was given to another process is not the owner
    taken_at    timestamptz NOT NULL DEFAULT now(),
    expires_at  timestamptz NOT NULL        -- by this database's clock; in the past once released
);

CREATE TABLE reprise.runs (
    run_id           text PRIMARY KEY,
    thread_id        text NOT NULL UNIQUE,
    name             text NOT NULL DEFAULT '',
    parent_thread_id text,
    matter           text NOT NULL,
    job_id           text NOT NULL DEFAULT '',
    playbook         text NOT NULL,
    playbook_sha256  text NOT NULL,
    engine           text NOT NULL,
    workflow_version integer NOT NULL,
    settings         jsonb NOT NULL,
    artifacts        jsonb NOT NULL,
    source           text NOT NULL,
    documents_total  integer NOT NULL,
    started_at       timestamptz NOT NULL DEFAULT now(),
    cancelled_at     timestamptz
);
CREATE INDEX runs_name ON reprise.runs (name);
CREATE INDEX runs_started ON reprise.runs (started_at DESC);

CREATE TABLE reprise.run_document (
    run_id       text NOT NULL REFERENCES reprise.runs ON DELETE CASCADE,
    thread_id    text NOT NULL,
    ordinal      integer NOT NULL,
    document     text NOT NULL,
    sha256       text NOT NULL,
    state        text NOT NULL CHECK (state IN ('pending', 'done', 'failed', 'skipped', 'deferred')),
    reason       text NOT NULL DEFAULT '',
    supplier     text NOT NULL DEFAULT '',
    language     text NOT NULL DEFAULT '',
    engine       text NOT NULL DEFAULT '',
    model        text NOT NULL DEFAULT '',
    findings_ref text NOT NULL DEFAULT '',
    text_ref     text NOT NULL DEFAULT '',
    findings     integer NOT NULL DEFAULT 0,
    warnings     jsonb NOT NULL DEFAULT '[]',
    finished_at  timestamptz,
    PRIMARY KEY (run_id, ordinal)
);

CREATE TABLE reprise.pages (
    run_id  text NOT NULL,
    ordinal integer NOT NULL,
    number  integer NOT NULL,
    state   text NOT NULL CHECK (state IN ('read', 'ocr', 'empty', 'failed', 'skipped')),
    reason  text NOT NULL DEFAULT '',
    PRIMARY KEY (run_id, ordinal, number),
    FOREIGN KEY (run_id, ordinal) REFERENCES reprise.run_document ON DELETE CASCADE
);

CREATE TABLE reprise.answers (
    matter        text NOT NULL,
    call_key      text NOT NULL,
    state         text NOT NULL CHECK (state IN ('claimed', 'completed', 'rejected')),
    tool          text NOT NULL,
    run_id        text NOT NULL,
    thread_id     text NOT NULL,
    owner         text NOT NULL,
    leased        boolean NOT NULL,             -- its life hangs on the thread's lease, else on claimed_until
    claimed_until timestamptz NOT NULL,
    call_id       bigint,                       -- the attempt that answered
    value         jsonb,
    reason        text NOT NULL DEFAULT '',     -- why it was rejected
    completed_at  timestamptz,
    PRIMARY KEY (matter, call_key)
);
CREATE INDEX answers_claimed ON reprise.answers (thread_id) WHERE state = 'claimed';

CREATE TABLE reprise.calls (
    call_id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id          text NOT NULL,
    thread_id       text NOT NULL,
    matter          text NOT NULL,
    call_key        text NOT NULL,
    tool            text NOT NULL,
    step            text NOT NULL,
    document        text NOT NULL DEFAULT '',
    document_sha256 text NOT NULL DEFAULT '',
    model           text NOT NULL DEFAULT '',
    parameters      jsonb NOT NULL DEFAULT '{}',  -- the question's key: prompt, schema, parameters by hash
    state           text NOT NULL CHECK (state IN ('running', 'completed', 'failed', 'abandoned', 'lost_answer', 'reused')),
    attempt         integer NOT NULL,
    owner           text NOT NULL,
    started_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at     timestamptz,
    tokens_in       integer,
    tokens_cached   integer,
    tokens_out      integer,
    worst_usd       numeric,                      -- reserved before the call
    usd             numeric,                      -- NULL: unknown
    basis           text CHECK (basis IN ('reported', 'estimated', 'unknown')),
    avoided_usd     numeric,                      -- of a reused answer: what it cost when it was asked
    word            text NOT NULL DEFAULT '',     -- how it failed, in one word
    error           text NOT NULL DEFAULT ''
);
CREATE INDEX calls_run ON reprise.calls (run_id, call_id);
CREATE INDEX calls_running ON reprise.calls (thread_id) WHERE state = 'running';

CREATE TABLE reprise.effects (
    run_id      text NOT NULL REFERENCES reprise.runs ON DELETE CASCADE,
    thread_id   text NOT NULL,
    key         text NOT NULL,                  -- idempotency key at the target
    kind        text NOT NULL,
    payload     jsonb NOT NULL,
    state       text NOT NULL CHECK (state IN ('pending', 'done')),
    intended_at timestamptz NOT NULL DEFAULT now(),
    settled_at  timestamptz,
    outcome     jsonb,
    PRIMARY KEY (run_id, key)
);

CREATE TABLE reprise.decisions (
    decision_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    run_id      text NOT NULL REFERENCES reprise.runs ON DELETE CASCADE,
    thread_id   text NOT NULL,
    finding_id  text NOT NULL,
    verdict     text NOT NULL CHECK (verdict IN ('accept', 'reject')),
    reviewer    text NOT NULL,
    reason      text NOT NULL,
    packet      text NOT NULL,                  -- sha256 of what the person saw
    surface     text NOT NULL,
    at          timestamptz NOT NULL
);
CREATE INDEX decisions_finding ON reprise.decisions (run_id, finding_id, decision_id DESC);

CREATE TABLE reprise.artifacts (
    artifact_id bigint GENERATED ALWAYS AS IDENTITY,
    run_id      text NOT NULL REFERENCES reprise.runs ON DELETE CASCADE,
    name        text NOT NULL,
    sha256      text NOT NULL,
    bytes       bigint NOT NULL,
    uri         text NOT NULL,
    PRIMARY KEY (run_id, name)
);

CREATE TABLE reprise.resumes (
    resume_id        text PRIMARY KEY,
    thread_id        text NOT NULL,
    kind             text NOT NULL CHECK (kind IN ('start', 'resume')),
    owner            text NOT NULL,
    host             text NOT NULL,
    pid              integer NOT NULL,
    workflow_version integer NOT NULL,
    from_step        text NOT NULL DEFAULT '',
    started_at       timestamptz NOT NULL DEFAULT now(),
    ended_at         timestamptz,
    outcome          text NOT NULL DEFAULT '',  -- '' while it goes on or when it was killed
    error            text NOT NULL DEFAULT ''
);
CREATE INDEX resumes_thread ON reprise.resumes (thread_id, started_at);
