-- The search index: the stems of what documents say, by matter; never their words in order, which are artifacts.
-- One that is made otherwise later empties this table in a migration: what is missing is filled in by the next search.

CREATE TABLE reprise.entries (
    matter   text NOT NULL,
    text_ref text NOT NULL,             -- of the stored text; equal documents of a matter are indexed once
    start    integer NOT NULL,          -- offsets in that text
    stop     integer NOT NULL,
    page     integer NOT NULL,
    language text NOT NULL,             -- of the stems: 'fr', 'en', '' for words as they are
    stems    tsvector NOT NULL,
    PRIMARY KEY (matter, text_ref, start)
);
CREATE INDEX entries_stems ON reprise.entries USING gin (stems);
CREATE INDEX run_document_text ON reprise.run_document (text_ref) WHERE text_ref <> '';

CREATE FUNCTION reprise.stemmer(language text) RETURNS regconfig LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE language WHEN 'fr' THEN 'pg_catalog.french'::regconfig WHEN 'en' THEN 'pg_catalog.english'::regconfig
                         ELSE 'pg_catalog.simple'::regconfig END
$$;

CREATE FUNCTION reprise.stemmed(spoken text, starts int[], stops int[], pages int[], words text[])
RETURNS TABLE (start int, stop int, page int, language text, stems tsvector) LANGUAGE sql STABLE AS $$
    SELECT e.start, e.stop, e.page, CASE WHEN spoken IN ('fr', 'en') THEN spoken ELSE '' END,
           to_tsvector(reprise.stemmer(spoken), e.words)
      FROM unnest(starts, stops, pages, words) AS e (start, stop, page, words)
$$;

-- What is asked, for each language: the words as they were typed or without accents, and none of the unwanted.
-- The French stems hang on the accent of a participle: who types "licencie" means "licencié" as well.
CREATE FUNCTION reprise.questions(wanted text, bare text, unwanted text) RETURNS TABLE (language text, query tsquery)
LANGUAGE sql STABLE AS $$
    SELECT l.language,
           (websearch_to_tsquery(reprise.stemmer(l.language), wanted)
            || websearch_to_tsquery(reprise.stemmer(l.language),
                                    CASE WHEN bare = wanted THEN '' ELSE bare END)
            || websearch_to_tsquery(reprise.stemmer(l.language),
                                    CASE WHEN l.language <> 'fr' THEN ''
                                         ELSE regexp_replace(bare, 'e(e?s?)\M', 'é\1', 'g') END))
           && websearch_to_tsquery(reprise.stemmer(l.language), unwanted)
      FROM unnest(ARRAY['fr', 'en', '']) AS l (language)
$$;

-- Entries go with the last run of their matter that has the document.
ALTER FUNCTION reprise.erase_thread(text, text, text, text, text, text) RENAME TO erase_rows_of_thread;
CREATE FUNCTION reprise.erase_thread(whose text, me text, its_name text, its_matter text, said_by text, why text)
RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    tombstone bigint := reprise.erase_rows_of_thread(whose, me, its_name, its_matter, said_by, why);
    gone bigint;
BEGIN
    DELETE FROM reprise.entries e
     WHERE e.matter = its_matter
       AND NOT EXISTS (SELECT 1 FROM reprise.run_document d JOIN reprise.runs r USING (run_id)
                        WHERE r.matter = its_matter AND d.text_ref = e.text_ref);
    GET DIAGNOSTICS gone = ROW_COUNT;
    UPDATE reprise.tombstones
       SET rows = rows || jsonb_build_object('entries', gone + coalesce((rows->>'entries')::bigint, 0))
     WHERE tombstone_id = tombstone;
    RETURN tombstone;
END $$;

-- Those of some hashes that any row still names; calls and entries name what answers and documents name as well.
CREATE OR REPLACE FUNCTION reprise.still_named(hashes text[]) RETURNS SETOF text LANGUAGE plpgsql STABLE AS $$
DECLARE
    one text;
BEGIN
    FOR one IN
        SELECT format('reprise.%I', c.relname) FROM pg_class c
         WHERE c.relnamespace = 'reprise'::regnamespace AND c.relkind = 'r'
           AND c.relname NOT IN ('calls', 'entries', 'heartbeats', 'leases', 'migrations', 'pages', 'tombstones')
         UNION ALL SELECT 'public.checkpoints'
    LOOP
        RETURN QUERY EXECUTE format(
            'SELECT DISTINCT h.sha256 FROM %s AS t, LATERAL regexp_matches(t::text, ''[0-9a-f]{64}'', ''g'') AS m
               JOIN unnest($1) AS h (sha256) ON h.sha256 = m[1]', one) USING hashes;
    END LOOP;
END $$;
