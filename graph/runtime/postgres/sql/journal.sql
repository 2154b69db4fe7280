-- name: claim
-- One owner a question. The claim and its first attempt are one statement, committed before anything is asked.
-- Sent again, it finds the attempt that it has made.
WITH mine AS (
    SELECT call_id FROM reprise.calls WHERE token = %(token)s AND state = 'running'
), claim AS (
    INSERT INTO reprise.answers AS a
        (matter, call_key, state, tool, run_id, thread_id, owner, leased, claimed_until)
    SELECT %(matter)s, %(call_key)s, 'claimed', %(tool)s, %(run_id)s, %(thread_id)s, %(owner)s, %(leased)s,
           now() + %(claim_seconds)s * interval '1 second'
     WHERE NOT EXISTS (SELECT 1 FROM mine)
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
), made AS (
    INSERT INTO reprise.calls (run_id, thread_id, matter, call_key, tool, step, document, document_sha256, model,
                               parameters, state, attempt, owner, worst_usd, token)
    SELECT %(run_id)s, %(thread_id)s, %(matter)s, %(call_key)s, %(tool)s, %(step)s, %(document)s, %(document_sha256)s,
           %(model)s, %(parameters)s, 'running', 1, %(owner)s, %(worst_usd)s, %(token)s
      FROM claim
    RETURNING call_id
)
SELECT call_id FROM mine UNION ALL SELECT call_id FROM made

-- name: stored
SELECT a.state, a.value, c.usd
  FROM reprise.answers a LEFT JOIN reprise.calls c USING (call_id)
 WHERE a.matter = %(matter)s AND a.call_key = %(call_key)s

-- name: reuse
INSERT INTO reprise.calls (run_id, thread_id, matter, call_key, tool, step, document, document_sha256, model,
                           parameters, state, attempt, owner, finished_at, usd, basis, avoided_usd, token)
VALUES (%(run_id)s, %(thread_id)s, %(matter)s, %(call_key)s, %(tool)s, %(step)s, %(document)s, %(document_sha256)s,
        %(model)s, %(parameters)s, 'reused', 0, %(owner)s, clock_timestamp(), 0, 'reported', %(avoided_usd)s, %(token)s)
ON CONFLICT (token) WHERE token IS NOT NULL DO NOTHING

-- name: attempt
-- Sent again, it touches the row that it has made and nothing else.
INSERT INTO reprise.calls (run_id, thread_id, matter, call_key, tool, step, document, document_sha256, model,
                           parameters, state, attempt, owner, worst_usd, token)
VALUES (%(run_id)s, %(thread_id)s, %(matter)s, %(call_key)s, %(tool)s, %(step)s, %(document)s, %(document_sha256)s,
        %(model)s, %(parameters)s, 'running', %(attempt)s, %(owner)s, %(worst_usd)s, %(token)s)
ON CONFLICT (token) WHERE token IS NOT NULL DO UPDATE SET token = excluded.token
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
-- Of who has no attempt running any more; a claim that another asker of this process has made since stays.
DELETE FROM reprise.answers a
 WHERE a.matter = %(matter)s AND a.call_key = %(call_key)s AND a.owner = %(owner)s AND a.state = 'claimed'
   AND NOT EXISTS (SELECT 1 FROM reprise.calls c
                    WHERE c.thread_id = a.thread_id AND c.call_key = a.call_key AND c.matter = a.matter
                      AND c.state = 'running')

-- name: reject
UPDATE reprise.answers SET state = 'rejected', reason = %(reason)s
 WHERE matter = %(matter)s AND call_key = %(call_key)s AND run_id = %(run_id)s AND state = 'completed'

-- name: spent
SELECT coalesce(sum(usd), 0) AS usd FROM reprise.calls WHERE run_id = %(run_id)s
