-- name: beat
INSERT INTO reprise.heartbeats (run_id, thread_id, owner, documents, pages, usd, token)
SELECT r.run_id, r.thread_id, %(owner)s,
       (SELECT count(*) FROM reprise.run_document d
         WHERE d.run_id = r.run_id AND d.state IN ('done', 'failed', 'skipped')),
       (SELECT count(*) FROM reprise.pages p WHERE p.run_id = r.run_id),
       (SELECT coalesce(sum(c.usd), 0) FROM reprise.calls c WHERE c.run_id = r.run_id),
       %(token)s
  FROM reprise.runs r WHERE r.run_id = %(run_id)s
ON CONFLICT (token) WHERE token IS NOT NULL DO NOTHING

-- name: progress
-- How far a run is. The rate is that of the process that drove last, over at most ten minutes before its last sign.
WITH last AS (
    SELECT * FROM reprise.heartbeats WHERE run_id = %(run_id)s ORDER BY beat_id DESC LIMIT 1
), first AS (
    SELECT h.* FROM reprise.heartbeats h, last
     WHERE h.run_id = %(run_id)s AND h.owner = last.owner AND h.at >= last.at - interval '10 minutes'
       AND h.at >= coalesce((SELECT max(s.started_at) FROM reprise.resumes s WHERE s.thread_id = last.thread_id), h.at)
     ORDER BY h.beat_id LIMIT 1
), oldest AS (
    SELECT c.document, c.tool, c.model, c.started_at FROM reprise.calls c, reprise.runs r
     WHERE r.run_id = %(run_id)s AND c.thread_id = r.thread_id AND c.state = 'running'
     ORDER BY c.started_at LIMIT 1
)
SELECT r.documents_total AS total,
       (SELECT count(*) FROM reprise.run_document d
         WHERE d.run_id = r.run_id AND d.state IN ('done', 'failed', 'skipped')) AS settled,
       (SELECT count(*) FROM reprise.run_document d
         WHERE d.run_id = r.run_id AND d.slow AND d.state = 'deferred') AS deferred,
       (SELECT count(*) FROM reprise.pages p WHERE p.run_id = r.run_id) AS pages,
       (SELECT coalesce(sum(c.usd), 0) FROM reprise.calls c WHERE c.run_id = r.run_id) AS usd,
       (SELECT count(*) FROM reprise.calls c WHERE c.thread_id = r.thread_id AND c.state = 'running') AS in_flight,
       r.settings->>'budget_usd' AS budget_usd,
       extract(epoch FROM now() - last.at) AS silent_seconds,
       last.documents - first.documents AS beat_documents, last.pages - first.pages AS beat_pages,
       extract(epoch FROM last.at - first.at) AS beat_seconds,
       oldest.document AS oldest_document, oldest.tool AS oldest_tool, oldest.model AS oldest_model,
       extract(epoch FROM now() - oldest.started_at) AS oldest_seconds
  FROM reprise.runs r LEFT JOIN last ON true LEFT JOIN first ON true LEFT JOIN oldest ON true
 WHERE r.run_id = %(run_id)s
