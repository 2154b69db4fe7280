-- name: take
-- Free, released or expired: taken in one statement by the database's clock. Held: no row comes back, but to the one
-- who took it by this very statement and was not told.
INSERT INTO reprise.leases AS held (thread_id, owner, host, host_key, pid, pid_started, expires_at, token)
VALUES (%(thread_id)s, %(owner)s, %(host)s, %(host_key)s, %(pid)s, %(pid_started)s,
        now() + %(ttl)s * interval '1 second', %(token)s)
ON CONFLICT (thread_id) DO UPDATE
   SET owner = excluded.owner, host = excluded.host, host_key = excluded.host_key, pid = excluded.pid,
       pid_started = excluded.pid_started, taken_at = now(), expires_at = excluded.expires_at, token = excluded.token
 WHERE held.expires_at <= now() OR held.owner = %(dead_owner)s OR held.token = excluded.token
RETURNING owner

-- name: holder
SELECT owner, host, host_key, pid, pid_started, taken_at, expires_at > now() AS live
  FROM reprise.leases WHERE thread_id = %(thread_id)s

-- name: extend
-- No row: another process owns the thread now. cancelled tells the driver to drain.
UPDATE reprise.leases SET expires_at = now() + %(ttl)s * interval '1 second'
 WHERE thread_id = %(thread_id)s AND owner = %(owner)s AND token = %(token)s
RETURNING (SELECT cancelled_at IS NOT NULL FROM reprise.runs r WHERE r.thread_id = leases.thread_id) AS cancelled

-- name: release
UPDATE reprise.leases SET expires_at = now()
 WHERE thread_id = %(thread_id)s AND owner = %(owner)s AND token = %(token)s

-- name: settle_lost
-- Calls that whoever drove before left running, this process included: the other side may have done and charged them.
UPDATE reprise.calls
   SET state = 'lost_answer', finished_at = now(), usd = worst_usd,
       basis = CASE WHEN worst_usd IS NULL THEN 'unknown' ELSE 'estimated' END,
       word = 'process_died', error = 'who asked was cut off before the answer was stored'
 WHERE thread_id = %(thread_id)s AND state = 'running'

-- name: drop_claims
-- Who takes the lease asks nothing yet: a claim of its own is one that an earlier drive was cut off from.
DELETE FROM reprise.answers WHERE thread_id = %(thread_id)s AND state = 'claimed'

-- name: begin_resume
INSERT INTO reprise.resumes (resume_id, thread_id, kind, owner, host, pid, workflow_version, from_step)
VALUES (%(resume_id)s, %(thread_id)s, %(kind)s, %(owner)s, %(host)s, %(pid)s, %(workflow_version)s, %(from_step)s)
ON CONFLICT (resume_id) DO NOTHING

-- name: end_resume
UPDATE reprise.resumes SET ended_at = now(), outcome = %(outcome)s, error = %(error)s WHERE resume_id = %(resume_id)s
