-- name: takeable
-- Threads that may have been left: driven before, not at their end, not cancelled; their status says the rest.
-- At its end is no run with a document that is to be tried again, or a webhook that was not yet refused for good.
-- What was only ever driven by plain LangGraph belongs to that program.
SELECT s.thread_id
  FROM (SELECT thread_id, min(started_at) AS began FROM reprise.resumes GROUP BY thread_id) s
  LEFT JOIN reprise.runs r USING (thread_id),
  LATERAL (SELECT c.checkpoint->'channel_values'->>'published' AS published FROM public.checkpoints c
            WHERE c.thread_id = s.thread_id AND c.checkpoint_ns = '' ORDER BY c.checkpoint_id DESC LIMIT 1) head
 WHERE r.cancelled_at IS NULL
   AND (head.published IS DISTINCT FROM 'true'
        OR EXISTS (SELECT 1 FROM reprise.run_document d WHERE d.run_id = r.run_id AND d.state = 'deferred')
        OR EXISTS (SELECT 1 FROM reprise.effects e
                    WHERE e.run_id = r.run_id AND e.state = 'pending' AND e.attempts < 10))
 ORDER BY s.began, s.thread_id

-- name: ripe
-- Threads at their end, or cancelled, of which nothing was heard for so long and that have more than one checkpoint.
SELECT r.thread_id, r.name, n.checkpoints
  FROM reprise.runs r,
  LATERAL (SELECT c.checkpoint->'channel_values'->>'published' AS published FROM public.checkpoints c
            WHERE c.thread_id = r.thread_id AND c.checkpoint_ns = '' ORDER BY c.checkpoint_id DESC LIMIT 1) head,
  LATERAL (SELECT count(*) AS checkpoints FROM public.checkpoints c WHERE c.thread_id = r.thread_id) n
 WHERE (head.published = 'true' OR r.cancelled_at IS NOT NULL) AND n.checkpoints > 1
   AND greatest(r.started_at, r.cancelled_at,
                (SELECT max(coalesce(s.ended_at, s.started_at)) FROM reprise.resumes s WHERE s.thread_id = r.thread_id),
                (SELECT max(d.at) FROM reprise.decisions d WHERE d.run_id = r.run_id))
       < now() - %(seconds)s * interval '1 second'
 ORDER BY r.started_at

-- name: checkpoint_rows
SELECT (SELECT count(*) FROM public.checkpoints WHERE thread_id = %(thread_id)s) AS checkpoints,
       (SELECT count(*) FROM public.checkpoint_writes WHERE thread_id = %(thread_id)s) AS writes,
       (SELECT count(*) FROM public.checkpoint_blobs WHERE thread_id = %(thread_id)s) AS blobs

-- name: threads_of_matter
SELECT thread_id FROM reprise.runs WHERE matter = %(matter)s ORDER BY started_at

-- name: unfrozen_threads
SELECT DISTINCT c.thread_id FROM public.checkpoints c
 WHERE NOT EXISTS (SELECT 1 FROM reprise.runs r WHERE r.thread_id = c.thread_id)

-- name: erase_thread
SELECT reprise.erase_thread(%(thread_id)s, %(owner)s, %(name)s, %(matter)s, %(by)s, %(reason)s) AS tombstone_id

-- name: erase_matter
SELECT reprise.erase_matter(%(matter)s, %(by)s, %(reason)s) AS tombstone_id

-- name: still_named
SELECT DISTINCT reprise.still_named(%(hashes)s::text[]) AS sha256

-- name: unfinished_purges
SELECT tombstone_id, thread_id, pending FROM reprise.tombstones WHERE purged_at IS NULL ORDER BY tombstone_id

-- name: places_in_use
SELECT DISTINCT outcome->>'uri' AS uri FROM reprise.effects WHERE outcome->>'uri' = ANY(%(places)s::text[])

-- name: finish_purge
UPDATE reprise.tombstones
   SET purged_at = now(), pending = NULL, files = files + %(files)s, bytes = bytes + %(bytes)s
 WHERE tombstone_id = %(tombstone_id)s AND purged_at IS NULL

-- name: tombstones
SELECT thread_id, name, matter, by_whom AS by, reason, begun_at, purged_at, documents, rows, files, bytes
  FROM reprise.tombstones ORDER BY tombstone_id DESC LIMIT %(limit)s

-- name: tombstone
SELECT thread_id, name, matter, by_whom AS by, reason, begun_at, purged_at, documents, rows, files, bytes
  FROM reprise.tombstones WHERE tombstone_id = %(tombstone_id)s

-- name: tombstone_of_thread
SELECT thread_id, name, by_whom AS by, reason, begun_at, purged_at
  FROM reprise.tombstones WHERE thread_id = %(thread_id)s OR (name = %(text)s AND name <> '')
 ORDER BY tombstone_id DESC LIMIT 1

-- name: kept_of_matter
SELECT EXISTS (SELECT 1 FROM reprise.runs WHERE matter = %(matter)s) AS runs,
       EXISTS (SELECT 1 FROM reprise.answers WHERE matter = %(matter)s) AS answers,
       EXISTS (SELECT 1 FROM reprise.calls WHERE matter = %(matter)s) AS calls,
       EXISTS (SELECT 1 FROM reprise.estimates WHERE matter = %(matter)s) AS estimates
