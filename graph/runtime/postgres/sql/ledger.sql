-- name: open_run
-- The run and its frozen list are one commit; a thread that is frozen already stays as it is.
WITH run AS (
    INSERT INTO reprise.runs (run_id, thread_id, name, matter, job_id, playbook, playbook_sha256, engine,
                              workflow_version, settings, artifacts, versions, source, documents_total, started_at)
    VALUES (%(run_id)s, %(thread_id)s, %(name)s, %(matter)s, %(job_id)s, %(playbook)s, %(playbook_sha256)s, %(engine)s,
            %(workflow_version)s, %(settings)s, %(artifacts)s, %(versions)s, %(source)s, %(documents_total)s,
            %(started_at)s)
    ON CONFLICT (thread_id) DO NOTHING
    RETURNING run_id, thread_id
)
INSERT INTO reprise.run_document (run_id, thread_id, ordinal, document, sha256, state)
SELECT run.run_id, run.thread_id, d.ordinal, d.document, d.sha256, 'pending'
  FROM run, unnest(%(ordinals)s::int[], %(documents)s::text[], %(sha256s)s::text[]) AS d (ordinal, document, sha256)

-- name: fork_run
-- The run and its documents are one commit; they are rows of the parent, with whatever columns these have.
WITH run AS (
    INSERT INTO reprise.runs (run_id, thread_id, name, parent_thread_id, matter, job_id, playbook, playbook_sha256,
                              engine, workflow_version, settings, artifacts, versions, source, documents_total,
                              started_at)
    SELECT %(run_id)s, %(thread_id)s, %(name)s, %(parent_thread_id)s, %(matter)s, %(job_id)s, %(playbook)s,
           %(playbook_sha256)s, %(engine)s, %(workflow_version)s, %(settings)s, %(artifacts)s, %(versions)s,
           %(source)s, %(documents_total)s, %(started_at)s
     WHERE NOT EXISTS (SELECT 1 FROM reprise.run_document d
                        WHERE d.run_id = %(parent_run_id)s AND d.state NOT IN ('done', 'failed', 'skipped'))
    ON CONFLICT (thread_id) DO NOTHING
    RETURNING run_id, thread_id
), document AS (
    INSERT INTO reprise.run_document
    SELECT copy.*
      FROM run, reprise.run_document d,
           LATERAL jsonb_populate_record(
               d, jsonb_build_object('run_id', run.run_id, 'thread_id', run.thread_id, 'slow', false)) AS copy
     WHERE d.run_id = %(parent_run_id)s
)
INSERT INTO reprise.pages
SELECT copy.*
  FROM run, reprise.pages p, LATERAL jsonb_populate_record(p, jsonb_build_object('run_id', run.run_id)) AS copy
 WHERE p.run_id = %(parent_run_id)s

-- name: run
SELECT * FROM reprise.runs WHERE run_id = %(run_id)s

-- name: run_of_thread
SELECT * FROM reprise.runs WHERE thread_id = %(thread_id)s

-- name: change_settings
UPDATE reprise.runs SET settings = %(settings)s WHERE run_id = %(run_id)s

-- name: change_versions
UPDATE reprise.runs SET workflow_version = %(workflow_version)s, versions = %(versions)s WHERE run_id = %(run_id)s

-- name: cancel
UPDATE reprise.runs SET cancelled_at = now() WHERE thread_id = %(thread_id)s AND cancelled_at IS NULL

-- name: uncancel
UPDATE reprise.runs SET cancelled_at = NULL WHERE thread_id = %(thread_id)s AND %(surface)s <> 'unattended'

-- name: documents
SELECT ordinal, document, sha256, state, reason, supplier, language, engine, model, findings_ref, facts_ref, text_ref,
       findings, CASE WHEN stale = '' THEN warnings ELSE warnings || to_jsonb(stale) END AS warnings, slow, unit
  FROM reprise.run_document
 WHERE run_id = %(run_id)s AND ordinal >= %(start)s AND ordinal < %(stop)s
 ORDER BY ordinal

-- name: pages
SELECT ordinal, number, state, reason FROM reprise.pages
 WHERE run_id = %(run_id)s AND ordinal >= %(start)s AND ordinal < %(stop)s
 ORDER BY ordinal, number

-- name: open_documents
SELECT ordinal FROM reprise.run_document
 WHERE run_id = %(run_id)s AND ordinal >= %(start)s AND ordinal < %(stop)s AND state = 'pending'
 ORDER BY ordinal

-- name: slow_documents
SELECT ordinal FROM reprise.run_document WHERE run_id = %(run_id)s AND slow ORDER BY ordinal

-- name: put_off
-- One that was finished at the last moment belongs to its batch after all.
UPDATE reprise.run_document SET state = 'deferred', slow = true, reason = %(reason)s
 WHERE run_id = %(run_id)s AND ordinal = ANY(%(ordinals)s::int[]) AND state = 'pending'

-- name: retry_failed
UPDATE reprise.run_document SET state = 'deferred', slow = true, reason = 'To be tried again: ' || reason
 WHERE run_id = %(run_id)s AND state = 'failed'

-- name: finish_document
WITH document AS (
    UPDATE reprise.run_document
       SET state = %(state)s, reason = %(reason)s, supplier = %(supplier)s, language = %(language)s,
           engine = %(engine)s, model = %(model)s, findings_ref = %(findings_ref)s, facts_ref = %(facts_ref)s,
           text_ref = %(text_ref)s, findings = %(findings)s, warnings = %(warnings)s, unit = %(unit)s,
           finished_at = clock_timestamp(), slow = slow OR %(state)s = 'deferred', stale = ''
     WHERE run_id = %(run_id)s AND ordinal = %(ordinal)s
    RETURNING run_id, ordinal
), entries AS (
    INSERT INTO reprise.entries (matter, text_ref, start, stop, page, language, stems)
    SELECT r.matter, %(text_ref)s, e.start, e.stop, e.page, e.language, e.stems
      FROM document JOIN reprise.runs r USING (run_id),
           LATERAL reprise.stemmed(%(language)s, %(starts)s::int[], %(stops)s::int[], %(on_pages)s::int[],
                                   %(words)s::text[]) e
     WHERE NOT EXISTS (SELECT 1 FROM reprise.entries known
                        WHERE known.matter = r.matter AND known.text_ref = %(text_ref)s)
    ON CONFLICT (matter, text_ref, start) DO NOTHING
)
INSERT INTO reprise.pages (run_id, ordinal, number, state, reason)
SELECT document.run_id, document.ordinal, page.number, page.state, page.reason
  FROM document, unnest(%(numbers)s::int[], %(states)s::text[], %(reasons)s::text[]) AS page (number, state, reason)
ON CONFLICT (run_id, ordinal, number) DO UPDATE SET state = excluded.state, reason = excluded.reason

-- name: keep_artifact
INSERT INTO reprise.artifacts (run_id, name, sha256, bytes, uri)
VALUES (%(run_id)s, %(name)s, %(sha256)s, %(bytes)s, %(uri)s)
ON CONFLICT (run_id, name) DO UPDATE SET sha256 = excluded.sha256, bytes = excluded.bytes, uri = excluded.uri

-- name: artifacts
SELECT name, sha256, bytes, uri FROM reprise.artifacts WHERE run_id = %(run_id)s ORDER BY artifact_id

-- name: decide
-- What repeats the latest decision on its finding is not written again; a change of mind is.
INSERT INTO reprise.decisions (run_id, thread_id, finding_id, verdict, reviewer, reason, packet, surface, at)
SELECT %(run_id)s, r.thread_id, d.finding_id, d.verdict, d.reviewer, d.reason, d.packet, d.surface, d.at
  FROM reprise.runs r,
       unnest(%(finding_ids)s::text[], %(verdicts)s::text[], %(reviewers)s::text[], %(reasons)s::text[],
              %(packets)s::text[], %(surfaces)s::text[], %(ats)s::timestamptz[])
       WITH ORDINALITY AS d (finding_id, verdict, reviewer, reason, packet, surface, at, position)
 WHERE r.run_id = %(run_id)s
   AND (d.verdict, d.reviewer, d.reason, d.packet) IS DISTINCT FROM
       (SELECT (x.verdict, x.reviewer, x.reason, x.packet) FROM reprise.decisions x
         WHERE x.run_id = r.run_id AND x.finding_id = d.finding_id ORDER BY x.decision_id DESC LIMIT 1)
 ORDER BY d.position

-- name: decisions
SELECT finding_id, verdict, reviewer, reason, packet, surface, at
  FROM reprise.decisions WHERE run_id = %(run_id)s ORDER BY decision_id

-- name: intend
INSERT INTO reprise.effects (run_id, thread_id, key, kind, payload, state)
SELECT %(run_id)s, thread_id, %(key)s, %(kind)s, %(payload)s, 'pending' FROM reprise.runs WHERE run_id = %(run_id)s
ON CONFLICT (run_id, key) DO NOTHING

-- name: effect_state
SELECT state FROM reprise.effects WHERE run_id = %(run_id)s AND key = %(key)s

-- name: settle_effect
UPDATE reprise.effects SET state = 'done', settled_at = now(), outcome = %(outcome)s, error = ''
 WHERE run_id = %(run_id)s AND key = %(key)s AND state = 'pending'

-- name: fail_effect
-- It stays pending: a resume does it again.
UPDATE reprise.effects SET attempts = attempts + 1, error = %(error)s
 WHERE run_id = %(run_id)s AND key = %(key)s AND state = 'pending'

-- name: effects
SELECT kind, key, state, attempts, error, payload, intended_at, settled_at
  FROM reprise.effects WHERE run_id = %(run_id)s ORDER BY intended_at, key

-- name: tally_documents
SELECT state, count(*) AS n, coalesce(sum(findings), 0) AS findings,
       array_agg(DISTINCT unit) FILTER (WHERE state = 'done') AS units
  FROM reprise.run_document WHERE run_id = %(run_id)s GROUP BY state

-- name: tally_pages
SELECT state, count(*) AS n FROM reprise.pages WHERE run_id = %(run_id)s GROUP BY state
