-- name: runs
SELECT r.*, l.owner, l.host, l.pid, l.expires_at > now() AS live
  FROM reprise.runs r LEFT JOIN reprise.leases l USING (thread_id)
 ORDER BY r.started_at DESC LIMIT %(limit)s

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

-- name: resumes
SELECT * FROM reprise.resumes WHERE thread_id = %(thread_id)s ORDER BY started_at

-- name: last_resume
SELECT * FROM reprise.resumes WHERE thread_id = %(thread_id)s ORDER BY started_at DESC LIMIT 1

-- name: updated_at
SELECT greatest((SELECT max(finished_at) FROM reprise.run_document WHERE run_id = %(run_id)s),
                (SELECT max(at) FROM reprise.decisions WHERE run_id = %(run_id)s),
                (SELECT max(coalesce(ended_at, started_at)) FROM reprise.resumes WHERE thread_id = %(thread_id)s))
       AS updated_at

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
