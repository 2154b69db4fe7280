-- name: run_records
-- All that run objects are made of, in one statement: of these threads, or of the newest runs where none is named.
-- channel_values and pending_writes are what LangGraph's saver selects of a checkpoint, see its SELECT_SQL.
WITH threads AS (
    (SELECT n.thread_id, n.position FROM unnest(%(thread_ids)s::text[]) WITH ORDINALITY AS n (thread_id, position))
     UNION ALL
    (SELECT thread_id, row_number() OVER (ORDER BY started_at DESC) FROM reprise.runs
      WHERE %(thread_ids)s::text[] IS NULL ORDER BY started_at DESC LIMIT %(limit)s))
SELECT r.*, t.thread_id AS of_thread, c.*, h.checkpoint, h.checkpoint_ns, h.checkpoint_id, h.parent_checkpoint_id,
       h.metadata,
       (SELECT array_agg(array[b.channel::bytea, b.type::bytea, b.blob])
          FROM jsonb_each_text(h.checkpoint -> 'channel_versions') v
          JOIN public.checkpoint_blobs b
            ON b.thread_id = h.thread_id AND b.checkpoint_ns = h.checkpoint_ns AND b.channel = v.key
           AND b.version = v.value) AS channel_values,
       (SELECT array_agg(array[w.task_id::text::bytea, w.channel::bytea, w.type::bytea, w.blob,
                               convert_to(w.task_path, 'UTF8'), w.idx::text::bytea])
          FROM public.checkpoint_writes w
         WHERE w.thread_id = h.thread_id AND w.checkpoint_ns = h.checkpoint_ns AND w.checkpoint_id = h.checkpoint_id)
           AS pending_writes,
       (SELECT to_jsonb(l) || jsonb_build_object('live', l.expires_at > now())
          FROM reprise.leases l WHERE l.thread_id = t.thread_id) AS holder,
       (SELECT jsonb_build_object('outcome', s.outcome, 'error', s.error)
          FROM reprise.resumes s WHERE s.thread_id = t.thread_id ORDER BY s.started_at DESC LIMIT 1) AS last_resume,
       (SELECT count(*) FROM reprise.resumes s WHERE s.thread_id = t.thread_id AND s.kind = 'resume') AS resumes,
       (SELECT jsonb_agg(g) FROM (
               SELECT state, count(*) AS n, coalesce(sum(findings), 0) AS findings,
                      array_agg(DISTINCT unit) FILTER (WHERE state = 'done') AS units
                 FROM reprise.run_document d WHERE d.run_id = r.run_id GROUP BY state) g) AS documents,
       (SELECT jsonb_object_agg(g.state, g.n) FROM (
               SELECT state, count(*) AS n FROM reprise.pages p WHERE p.run_id = r.run_id GROUP BY state) g) AS pages,
       (SELECT jsonb_agg(jsonb_build_object('name', a.name, 'sha256', a.sha256, 'bytes', a.bytes, 'uri', a.uri)
                         ORDER BY a.artifact_id)
          FROM reprise.artifacts a WHERE a.run_id = r.run_id) AS stored,
       (SELECT jsonb_agg(jsonb_build_object('finding_id', d.finding_id, 'verdict', d.verdict, 'reviewer', d.reviewer,
                         'reason', d.reason, 'packet', d.packet, 'surface', d.surface, 'at', d.at)
                         ORDER BY d.decision_id)
          FROM reprise.decisions d WHERE d.run_id = r.run_id) AS decisions,
       (SELECT jsonb_agg(jsonb_build_object('kind', e.kind, 'key', e.key, 'state', e.state, 'attempts', e.attempts,
                         'error', e.error, 'payload', e.payload) ORDER BY e.intended_at, e.key)
          FROM reprise.effects e WHERE e.run_id = r.run_id) AS effects,
       greatest((SELECT max(d.finished_at) FROM reprise.run_document d WHERE d.run_id = r.run_id),
                (SELECT max(d.at) FROM reprise.decisions d WHERE d.run_id = r.run_id),
                (SELECT max(coalesce(s.ended_at, s.started_at)) FROM reprise.resumes s WHERE s.thread_id = r.thread_id))
           AS updated_at
  FROM threads t
  LEFT JOIN reprise.runs r ON r.thread_id = t.thread_id
  LEFT JOIN LATERAL (
       SELECT thread_id, checkpoint, checkpoint_ns, checkpoint_id, parent_checkpoint_id, metadata
         FROM public.checkpoints k WHERE k.thread_id = t.thread_id AND k.checkpoint_ns = ''
        ORDER BY k.checkpoint_id DESC LIMIT 1) h ON true
  LEFT JOIN LATERAL (
       SELECT coalesce(sum(usd), 0) AS usd,
              count(*) FILTER (WHERE state <> 'reused') AS calls,
              count(*) FILTER (WHERE state = 'reused') AS calls_reused,
              count(*) FILTER (WHERE state = 'lost_answer') AS calls_lost,
              count(*) FILTER (WHERE basis = 'unknown') AS calls_unpriced,
              coalesce(bool_or(basis = 'estimated' AND usd > 0), false) AS estimated,
              coalesce(sum(avoided_usd), 0) AS avoided_usd
         FROM reprise.calls WHERE run_id = r.run_id) c ON true
 ORDER BY t.position

-- name: find_thread
-- A start that died before it froze its inputs has checkpoints and no run: it is found by its whole name.
SELECT thread_id, name = %(text)s OR thread_id = %(thread_id)s AS exact, started_at
  FROM reprise.runs
 WHERE name = %(text)s OR thread_id = %(thread_id)s OR thread_id LIKE %(prefix)s OR name LIKE %(prefix)s
 UNION ALL
SELECT %(thread_id)s, true, now()
 WHERE EXISTS (SELECT 1 FROM public.checkpoints c WHERE c.thread_id = %(thread_id)s)
   AND NOT EXISTS (SELECT 1 FROM reprise.runs r WHERE r.thread_id = %(thread_id)s)
 ORDER BY exact DESC, started_at DESC LIMIT 20

-- name: last_thread
SELECT thread_id FROM reprise.runs ORDER BY started_at DESC LIMIT 1

-- name: cost
SELECT coalesce(sum(usd), 0) AS usd,
       count(*) FILTER (WHERE state <> 'reused') AS calls,
       count(*) FILTER (WHERE state = 'reused') AS calls_reused,
       count(*) FILTER (WHERE state = 'lost_answer') AS calls_lost,
       count(*) FILTER (WHERE basis = 'unknown') AS calls_unpriced,
       coalesce(bool_or(basis = 'estimated' AND usd > 0), false) AS estimated,
       coalesce(sum(avoided_usd), 0) AS avoided_usd
  FROM reprise.calls WHERE run_id = %(run_id)s

-- name: calls_by_tool
SELECT tool, count(*) FILTER (WHERE state <> 'reused') AS calls, count(*) FILTER (WHERE state = 'reused') AS reused,
       count(*) FILTER (WHERE state = 'lost_answer') AS lost, count(*) FILTER (WHERE state = 'failed') AS failed,
       count(*) FILTER (WHERE state = 'running') AS running
  FROM reprise.calls WHERE run_id = %(run_id)s GROUP BY tool ORDER BY tool

-- name: journal
SELECT call_id, tool, step, document, model, state, attempt, started_at, finished_at, tokens_in, tokens_cached,
       tokens_out, usd, basis, word, error, owner, call_key
  FROM reprise.calls WHERE run_id = %(run_id)s ORDER BY call_id

-- name: last_resume
SELECT * FROM reprise.resumes WHERE thread_id = %(thread_id)s ORDER BY started_at DESC LIMIT 1

-- name: failures
SELECT document, reason FROM reprise.run_document
 WHERE run_id = %(run_id)s AND state = 'failed' ORDER BY ordinal

-- name: done_ahead
-- Documents that are done beyond the checkpoint: those of the batch that comes next, and those after it.
SELECT count(*) FILTER (WHERE ordinal < %(batch_end)s) AS in_batch,
       count(*) FILTER (WHERE ordinal >= %(batch_end)s) AS beyond
  FROM reprise.run_document
 WHERE run_id = %(run_id)s AND ordinal >= %(closed)s AND state IN ('done', 'failed', 'skipped')

-- name: pace
SELECT count(*) AS n, extract(epoch FROM max(d.finished_at) - min(d.finished_at)) AS seconds
  FROM reprise.run_document d
 WHERE d.run_id = %(run_id)s AND d.finished_at >= (
       SELECT r.started_at FROM reprise.resumes r
        WHERE r.thread_id = d.thread_id
          AND EXISTS (SELECT 1 FROM reprise.run_document e
                       WHERE e.run_id = %(run_id)s AND e.finished_at >= r.started_at)
        ORDER BY r.started_at DESC LIMIT 1)

-- name: releases
SELECT key, kind, outcome FROM reprise.effects WHERE run_id = %(run_id)s AND state = 'done' ORDER BY intended_at, key

-- name: text_of
SELECT text_ref FROM reprise.run_document WHERE run_id = %(run_id)s AND document = %(document)s
