-- Erasure: what was purged leaves a tombstone, which holds no word of it.

CREATE TABLE reprise.tombstones (
    tombstone_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    thread_id    text NOT NULL,               -- '' for what a matter kept beside its runs
    name         text NOT NULL,
    matter       text NOT NULL,
    by_whom      text NOT NULL,
    reason       text NOT NULL,
    begun_at     timestamptz NOT NULL DEFAULT now(),
    purged_at    timestamptz,                 -- NULL: the tables are empty of it, files are still to be removed
    documents    integer NOT NULL,
    rows         jsonb NOT NULL,              -- table to number of rows
    files        integer NOT NULL DEFAULT 0,
    bytes        bigint NOT NULL DEFAULT 0,
    pending      jsonb                        -- hashes and places of those files; NULL once they are gone
);
CREATE INDEX tombstones_thread ON reprise.tombstones (thread_id, tombstone_id DESC);
-- No fence: a purge is finished by whoever comes, also while a new run of that name is driven.

-- Bytes whose name a run gave to others later: the run's all the same, to be found by a purge.
CREATE TABLE reprise.superseded (
    run_id text NOT NULL REFERENCES reprise.runs ON DELETE CASCADE,
    sha256 text NOT NULL,
    PRIMARY KEY (run_id, sha256)
);

CREATE FUNCTION reprise.supersede() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO reprise.superseded (run_id, sha256) VALUES (OLD.run_id, OLD.sha256) ON CONFLICT DO NOTHING;
    RETURN NEW;
END $$;
CREATE TRIGGER supersede AFTER UPDATE ON reprise.artifacts FOR EACH ROW
    WHEN (OLD.sha256 <> NEW.sha256) EXECUTE FUNCTION reprise.supersede();

-- Delete rows of one table; says how many, and which sha256 they named.
CREATE FUNCTION reprise.erase_rows(place text, which text, whose text, OUT n bigint, OUT named text[])
LANGUAGE plpgsql AS $$
BEGIN
    EXECUTE format(
        'WITH gone AS (DELETE FROM %s AS t WHERE %s RETURNING t::text AS line)
         SELECT (SELECT count(*) FROM gone),
                (SELECT coalesce(array_agg(DISTINCT m[1]), ''{}'')
                   FROM gone, LATERAL regexp_matches(gone.line, ''[0-9a-f]{64}'', ''g'') AS m)', place, which)
       INTO n, named USING whose;
END $$;

-- Every table of ours that has rows of threads or runs, those of later migrations included. A lease stays: it keeps
-- out who drove the thread before and was frozen.
CREATE FUNCTION reprise.erasable() RETURNS TABLE (place text, which text) LANGUAGE sql STABLE AS $$
    SELECT format('reprise.%I', c.relname),
           CASE WHEN bool_or(a.attname = 'thread_id') THEN 't.thread_id = $1'
                ELSE 't.run_id IN (SELECT r.run_id FROM reprise.runs r WHERE r.thread_id = $1)' END
      FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
     WHERE c.relnamespace = 'reprise'::regnamespace AND c.relkind = 'r' AND a.attname IN ('thread_id', 'run_id')
       AND c.relname NOT IN ('answers', 'leases', 'runs', 'tombstones')
     GROUP BY c.relname
     UNION ALL
    SELECT format('public.%I', t), 't.thread_id = $1'
      FROM unnest(ARRAY['checkpoints', 'checkpoint_blobs', 'checkpoint_writes']) t
     ORDER BY 1
$$;

-- Erase a thread that this process holds the lease of, in one transaction, and set its tombstone.
CREATE FUNCTION reprise.erase_thread(whose text, me text, its_name text, its_matter text, said_by text, why text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    run reprise.runs%ROWTYPE;
    one record;
    gone record;
    counts jsonb := '{}';
    hashes text[] := '{}';
    keys text[];
    places text[];
    marks text[];
    listed integer := 0;
    tombstone bigint;
BEGIN
    PERFORM 1 FROM reprise.leases WHERE thread_id = whose AND owner = me AND expires_at > now() FOR UPDATE;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'thread % was taken over by another process', whose USING ERRCODE = 'RP001';
    END IF;
    SELECT * INTO run FROM reprise.runs WHERE thread_id = whose;
    -- Asked again because only the acknowledgement was lost: all is erased already.
    SELECT tombstone_id INTO tombstone FROM reprise.tombstones t
     WHERE t.thread_id = whose AND t.purged_at IS NULL AND run.run_id IS NULL
       AND NOT EXISTS (SELECT 1 FROM public.checkpoints c WHERE c.thread_id = whose)
     ORDER BY tombstone_id DESC LIMIT 1;
    IF FOUND THEN
        RETURN tombstone;
    END IF;
    SELECT count(*), coalesce(array_agg(DISTINCT sha256), '{}') INTO listed, marks
      FROM reprise.run_document WHERE thread_id = whose AND sha256 <> '';
    SELECT coalesce(array_agg(DISTINCT outcome->>'uri'), '{}') INTO places
      FROM reprise.effects WHERE thread_id = whose AND outcome ? 'uri';
    -- Released by a process that died before it could say so: known by its name alone.
    places := places || ARRAY(SELECT payload->>'name' FROM reprise.effects
                               WHERE thread_id = whose AND state <> 'done' AND payload ? 'name');

    -- Answers go with the last run that used them. A dry run is no run: its calls go with the answers.
    WITH used AS (
        SELECT DISTINCT matter, call_key FROM reprise.calls WHERE thread_id = whose
    ), shared AS (
        SELECT DISTINCT u.matter, u.call_key
          FROM used u JOIN reprise.calls c USING (matter, call_key) JOIN reprise.runs r ON r.run_id = c.run_id
         WHERE c.thread_id <> whose
    ), erased AS (
        DELETE FROM reprise.answers a USING used u
         WHERE a.matter = u.matter AND a.call_key = u.call_key
           AND NOT EXISTS (SELECT 1 FROM shared s WHERE s.matter = a.matter AND s.call_key = a.call_key)
        RETURNING a.call_key, a.value::text AS line
    )
    SELECT coalesce(array_agg(call_key), '{}'),
           (SELECT coalesce(array_agg(DISTINCT m[1]), '{}')
              FROM erased, LATERAL regexp_matches(line, '[0-9a-f]{64}', 'g') AS m)
      INTO keys, hashes FROM erased;
    counts := jsonb_build_object('answers', cardinality(keys));
    DELETE FROM reprise.calls c
     WHERE c.matter = its_matter AND c.call_key = ANY(keys)
       AND NOT EXISTS (SELECT 1 FROM reprise.runs r WHERE r.run_id = c.run_id);
    WITH erased AS (
        DELETE FROM reprise.estimates e
         WHERE e.matter = its_matter AND e.inputs = run.artifacts->>'inputs'
           AND NOT EXISTS (SELECT 1 FROM reprise.runs r WHERE r.matter = e.matter AND r.thread_id <> whose
                              AND r.artifacts->>'inputs' = e.inputs)
        RETURNING e.inputs, e.estimate
    )
    SELECT hashes || coalesce(array_agg(inputs), '{}') || coalesce(array_agg(estimate), '{}'),
           counts || jsonb_build_object('estimates', count(*))
      INTO hashes, counts FROM erased;

    FOR one IN SELECT * FROM reprise.erasable() LOOP
        SELECT * INTO gone FROM reprise.erase_rows(one.place, one.which, whose);
        counts := counts || jsonb_build_object(split_part(one.place, '.', 2), gone.n);
        IF one.place NOT IN ('reprise.calls', 'public.checkpoint_blobs', 'public.checkpoint_writes') THEN
            hashes := hashes || gone.named;
        END IF;
    END LOOP;
    SELECT * INTO gone FROM reprise.erase_rows('reprise.runs', 't.thread_id = $1', whose);
    counts := counts || jsonb_build_object('runs', gone.n);
    hashes := hashes || gone.named;

    INSERT INTO reprise.tombstones (thread_id, name, matter, by_whom, reason, documents, rows, pending)
    VALUES (whose, its_name, its_matter, said_by, why, listed, counts, jsonb_build_object(
        'sha256', to_jsonb(ARRAY(SELECT DISTINCT unnest(hashes))),
        'places', to_jsonb(places),
        'marks', to_jsonb(marks || whose || coalesce(run.run_id, whose))))
    RETURNING tombstone_id INTO tombstone;
    RETURN tombstone;
END $$;

-- Erase what a matter keeps beside its runs: answers and calls of dry runs, estimates. NULL while it has a run.
CREATE FUNCTION reprise.erase_matter(whose text, said_by text, why text) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    one text;
    gone record;
    counts jsonb := '{}';
    hashes text[] := '{}';
    marks text[];
    tombstone bigint;
BEGIN
    IF EXISTS (SELECT 1 FROM reprise.runs WHERE matter = whose) THEN
        RETURN NULL;
    END IF;
    SELECT tombstone_id INTO tombstone FROM reprise.tombstones
     WHERE thread_id = '' AND matter = whose AND purged_at IS NULL ORDER BY tombstone_id DESC LIMIT 1;
    IF FOUND AND NOT EXISTS (SELECT 1 FROM reprise.answers WHERE matter = whose) THEN
        RETURN tombstone;
    END IF;
    SELECT coalesce(array_agg(DISTINCT document_sha256), '{}') INTO marks
      FROM reprise.calls WHERE matter = whose AND document_sha256 <> '';
    FOR one IN
        SELECT format('reprise.%I', c.relname)
          FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND NOT a.attisdropped
         WHERE c.relnamespace = 'reprise'::regnamespace AND c.relkind = 'r' AND a.attname = 'matter'
           AND c.relname NOT IN ('runs', 'tombstones') ORDER BY 1
    LOOP
        SELECT * INTO gone FROM reprise.erase_rows(one, 't.matter = $1', whose);
        counts := counts || jsonb_build_object(split_part(one, '.', 2), gone.n);
        IF one <> 'reprise.calls' THEN
            hashes := hashes || gone.named;
        END IF;
    END LOOP;
    INSERT INTO reprise.tombstones (thread_id, name, matter, by_whom, reason, documents, rows, pending)
    VALUES ('', '', whose, said_by, why, 0, counts, jsonb_build_object(
        'sha256', to_jsonb(ARRAY(SELECT DISTINCT unnest(hashes))), 'places', '[]'::jsonb, 'marks', to_jsonb(marks)))
    RETURNING tombstone_id INTO tombstone;
    RETURN tombstone;
END $$;

-- Those of some hashes that any row still names; calls name what answers and documents name as well.
CREATE FUNCTION reprise.still_named(hashes text[]) RETURNS SETOF text LANGUAGE plpgsql STABLE AS $$
DECLARE
    one text;
BEGIN
    FOR one IN
        SELECT format('reprise.%I', c.relname) FROM pg_class c
         WHERE c.relnamespace = 'reprise'::regnamespace AND c.relkind = 'r'
           AND c.relname NOT IN ('calls', 'heartbeats', 'leases', 'migrations', 'pages', 'tombstones')
         UNION ALL SELECT 'public.checkpoints'
    LOOP
        RETURN QUERY EXECUTE format(
            'SELECT DISTINCT h.sha256 FROM %s AS t, LATERAL regexp_matches(t::text, ''[0-9a-f]{64}'', ''g'') AS m
               JOIN unnest($1) AS h (sha256) ON h.sha256 = m[1]', one) USING hashes;
    END LOOP;
END $$;
