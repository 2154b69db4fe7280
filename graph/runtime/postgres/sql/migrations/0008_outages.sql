-- Outages: a statement whose acknowledgement was lost is sent again, and finds by its token what it has done already.

ALTER TABLE reprise.calls ADD COLUMN token uuid;   -- of who asks: the same for every try to write this row
CREATE UNIQUE INDEX calls_token ON reprise.calls (token) WHERE token IS NOT NULL;

ALTER TABLE reprise.leases ADD COLUMN token uuid;  -- of this taking of the lease: a process may take it again later
ALTER TABLE reprise.heartbeats ADD COLUMN token uuid;
CREATE UNIQUE INDEX heartbeats_token ON reprise.heartbeats (token) WHERE token IS NOT NULL;

-- A process that was overtaken names no artifact of the run and rejects none of its answers any more.
CREATE FUNCTION reprise.fence_artifact() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    holder reprise.leases%ROWTYPE;
    me text := coalesce(current_setting('reprise.owner', true), '');
BEGIN
    SELECT l.* INTO holder FROM reprise.runs r JOIN reprise.leases l USING (thread_id)
     WHERE r.run_id = NEW.run_id FOR SHARE OF l;
    IF FOUND AND holder.owner <> me AND (me <> '' OR holder.expires_at > now()) THEN
        RAISE EXCEPTION 'thread % is driven by % (pid %) on %', holder.thread_id, holder.owner, holder.pid, holder.host
            USING ERRCODE = 'RP001';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER fence BEFORE INSERT OR UPDATE ON reprise.artifacts FOR EACH ROW EXECUTE FUNCTION reprise.fence_artifact();
CREATE TRIGGER fence BEFORE UPDATE ON reprise.answers FOR EACH ROW WHEN (NEW.state = 'rejected')
    EXECUTE FUNCTION reprise.fence();
