-- name: made_with
-- For a run that did not write down what it is made with: what its newest questions were asked with.
SELECT DISTINCT ON (tool, step) tool, step, parameters->>'reader' AS reader, parameters->>'rules' AS rules,
       parameters->>'facts' AS facts, parameters->>'prompt' AS prompt
  FROM reprise.calls
 WHERE run_id = %(run_id)s AND tool IN ('reader', 'clause_rules', 'model')
 ORDER BY tool, step, call_id DESC

-- name: prompts_asked
-- In which step each prompt of a run was asked with.
SELECT DISTINCT step, parameters->>'prompt' AS prompt
  FROM reprise.calls WHERE run_id = %(run_id)s AND tool = 'model'

-- name: asked_anew
-- Stored answers that other versions would ask for once more: about open documents, and about a note that is not written.
SELECT count(*) AS answers, coalesce(sum(c.usd), 0) AS usd
  FROM reprise.calls c LEFT JOIN reprise.run_document d ON d.run_id = c.run_id AND d.document = c.document
 WHERE c.run_id = %(run_id)s AND c.state = 'completed'
   AND ((c.step = 'extract' AND d.state IN ('pending', 'deferred')
         AND (c.tool = ANY(%(tools)s::text[]) OR c.parameters->>'prompt' = ANY(%(prompts)s::text[])))
     OR (c.step = 'summarize' AND %(unwritten)s AND c.parameters->>'prompt' = ANY(%(prompts)s::text[])))

-- name: forget
DELETE FROM reprise.answers WHERE matter = %(matter)s AND call_key = %(call_key)s AND state <> 'claimed'

-- name: note_resume
UPDATE reprise.resumes SET changes = changes || %(changes)s WHERE resume_id = %(resume_id)s

-- name: retry_lane
-- Documents of the retry lane, and those that failed and may come to it.
SELECT ordinal, slow, state FROM reprise.run_document
 WHERE run_id = %(run_id)s AND (slow OR state = 'failed') ORDER BY ordinal

-- name: input_states
-- Which documents are open, and of which it is known that their file is another one now.
SELECT coalesce(array_agg(ordinal) FILTER (WHERE state IN ('pending', 'deferred')), '{}') AS open,
       coalesce(array_agg(ordinal) FILTER (WHERE state = 'done'), '{}') AS done,
       coalesce(array_agg(ordinal) FILTER (WHERE stale <> ''), '{}') AS stale
  FROM reprise.run_document WHERE run_id = %(run_id)s

-- name: mark_stale
UPDATE reprise.run_document SET stale = CASE WHEN ordinal = ANY(%(ordinals)s::int[]) THEN %(reason)s ELSE '' END
 WHERE run_id = %(run_id)s AND (stale <> '' OR ordinal = ANY(%(ordinals)s::int[]))

-- name: stale
SELECT document, stale FROM reprise.run_document WHERE run_id = %(run_id)s AND stale <> '' ORDER BY ordinal

-- name: artifacts_named
SELECT sha256, max(bytes) AS bytes, array_agg(name ORDER BY artifact_id) AS names
  FROM reprise.artifacts WHERE run_id = %(run_id)s GROUP BY sha256 ORDER BY min(artifact_id)

-- name: resumed
-- Starts and resumes, of one thread or of all, oldest first. stopped_at: the last sign of life of whoever drove before,
-- when that one was killed; lost_seconds: from then until this one began. What waits for a person, or was stopped in
-- peace, loses no time. documents_kept and kept_usd: what was done and paid before, and was not done or paid again.
SELECT r.*, u.name, l.owner IS NOT NULL AS live, l.host_key, l.pid_started,
       before.stopped_at, extract(epoch FROM r.started_at - before.stopped_at)::float AS lost_seconds,
       (SELECT count(*) FROM reprise.run_document d
         WHERE d.run_id = u.run_id AND d.finished_at < r.started_at AND d.state IN ('done', 'failed', 'skipped'))
           AS documents_kept,
       (SELECT coalesce(sum(c.usd), 0) FROM reprise.calls c
         WHERE c.run_id = u.run_id AND c.state = 'completed' AND c.finished_at < r.started_at) AS kept_usd
  FROM reprise.resumes r
  LEFT JOIN reprise.runs u USING (thread_id)
  LEFT JOIN reprise.leases l ON l.thread_id = r.thread_id AND l.owner = r.owner AND l.expires_at > now()
        AND r.ended_at IS NULL
  LEFT JOIN LATERAL (
       SELECT CASE WHEN p.ended_at IS NULL THEN greatest(p.started_at,
                  (SELECT max(c.finished_at) FROM reprise.calls c
                    WHERE c.run_id = u.run_id AND c.state = 'completed' AND c.finished_at < r.started_at),
                  (SELECT max(h.at) FROM reprise.heartbeats h WHERE h.run_id = u.run_id AND h.at < r.started_at))
              END AS stopped_at
         FROM reprise.resumes p WHERE p.thread_id = r.thread_id AND p.started_at < r.started_at
        ORDER BY p.started_at DESC LIMIT 1) before ON true
 WHERE (%(thread_id)s::text IS NULL OR r.thread_id = %(thread_id)s)
   AND (%(resume_id)s::text IS NULL OR r.resume_id = %(resume_id)s)
 ORDER BY r.started_at
