-- name: claim
-- One owner a question. The claim and its first attempt are one statement, committed before anything is asked.
WITH claim AS (
    INSERT INTO reprise.answers AS a
        (matter, call_key, state, tool, run_id, thread_id, owner, leased, claimed_until)
    VALUES (%(matter)s, %(call_key)s, 'claimed', %(tool)s, %(run_id)s, %(thread_id)s, %(owner)s, %(leased)s,
            now() + %(claim_seconds)s * interval '1 second')
    ON CONFLICT (matter, call_key) DO UPDATE
       SET state = 'claimed', run_id = excluded.run_id, thread_id = excluded.thread_id, owner = excluded.owner,
           leased = excluded.leased, claimed_until = excluded.claimed_until, value = NULL, reason = ''
     WHERE (a.state = 'rejected' AND a.run_id <> excluded.run_id)
        OR (a.state = 'claimed' AND a.owner <> excluded.owner
            AND (a.thread_id = excluded.thread_id
                 OR CASE WHEN a.leased
                    THEN NOT EXISTS (SELECT 1 FROM reprise.leases l
                                      WHERE l.thread_id = a.thread_id AND l.owner = a.owner AND l.expires_at > now())
                    ELSE a.claimed_until < now() END))
    RETURNING 1
)
INSERT INTO reprise.calls (run_id, thread_id, matter, call_key, tool, step, document, document_sha256, model,
                           parameters, state, attempt, owner, worst_usd)
SELECT %(run_id)s, %(thread_id)s, %(matter)s, %(call_key)s, %(tool)s, %(step)s, %(document)s, %(document_sha256)s,
       %(model)s, %(parameters)s, 'running', 1, %(owner)s, %(worst_usd)s
  FROM claim
RETURNING call_id

-- name: stored
SELECT a.state, a.value, c.usd
  FROM reprise.answers a LEFT JOIN reprise.calls c USING (call_id)
 WHERE a.matter = %(matter)s AND a.call_key = %(call_key)s

-- name: reuse
INSERT INTO reprise.calls (run_id, thread_id, matter, call_key, tool, step, document, document_sha256, model,
                           parameters, state, attempt, owner, finished_at, usd, basis, avoided_usd)
VALUES (%(run_id)s, %(thread_id)s, %(matter)s, %(call_key)s, %(tool)s, %(step)s, %(document)s, %(document_sha256)s,
        %(model)s, %(parameters)s, 'reused', 0, %(owner)s, clock_timestamp(), 0, 'reported', %(avoided_usd)s)

-- name: attempt
INSERT INTO reprise.calls (run_id, thread_id, matter, call_key, tool, step, document, document_sha256, model,
                           parameters, state, attempt, owner, worst_usd)
VALUES (%(run_id)s, %(thread_id)s, %(matter)s, %(call_key)s, %(tool)s, %(step)s, %(document)s, %(document_sha256)s,
        %(model)s, %(parameters)s, 'running', %(attempt)s, %(owner)s, %(worst_usd)s)
RETURNING call_id

-- name: complete
-- The outcome and the answer are one commit: from here on this question is never asked again.
WITH done AS (
    UPDATE reprise.calls
       SET state = 'completed', finished_at = clock_timestamp(), waited_ms = %(waited_ms)s, tokens_in = %(tokens_in)s,
           tokens_cached = %(tokens_cached)s, tokens_out = %(tokens_out)s, usd = %(usd)s, basis = %(basis)s
     WHERE call_id = %(call_id)s
    RETURNING call_id
)
UPDATE reprise.answers SET state = 'completed', value = %(value)s, call_id = done.call_id, completed_at = now()
  FROM done
 WHERE matter = %(matter)s AND call_key = %(call_key)s AND owner = %(owner)s AND state = 'claimed'

-- name: fail
-- An outcome that is written stays: a cancel that comes while a completion is on its way does not undo it.
UPDATE reprise.calls
   SET state = %(state)s, finished_at = clock_timestamp(), tokens_in = %(tokens_in)s,
       tokens_cached = %(tokens_cached)s, tokens_out = %(tokens_out)s, usd = %(usd)s, basis = %(basis)s,
       word = %(word)s, error = %(error)s
 WHERE call_id = %(call_id)s AND state = 'running'

-- name: unclaim
DELETE FROM reprise.answers
 WHERE matter = %(matter)s AND call_key = %(call_key)s AND owner = %(owner)s AND state = 'claimed'

-- name: reject
UPDATE reprise.answers SET state = 'rejected', reason = %(reason)s
 WHERE matter = %(matter)s AND call_key = %(call_key)s AND run_id = %(run_id)s AND state = 'completed'

-- name: spent
SELECT coalesce(sum(usd), 0) AS usd FROM reprise.calls WHERE run_id = %(run_id)s
