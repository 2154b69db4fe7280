-- The fence: a process that was overtaken commits nothing more, in our tables or in LangGraph's.
-- A driver names itself on every connection (-c reprise.owner=…); it may write only to threads whose lease is its own.
-- A connection that names no owner (plain LangGraph) is refused only while somebody drives the thread.

CREATE FUNCTION reprise.fence() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    holder reprise.leases%ROWTYPE;
    me text := coalesce(current_setting('reprise.owner', true), '');
BEGIN
    SELECT * INTO holder FROM reprise.leases WHERE thread_id = NEW.thread_id FOR SHARE;
    IF FOUND AND holder.owner <> me AND (me <> '' OR holder.expires_at > now()) THEN
        RAISE EXCEPTION 'thread % is driven by % (pid %) on %', NEW.thread_id, holder.owner, holder.pid, holder.host
            USING ERRCODE = 'RP001';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER fence BEFORE INSERT OR UPDATE ON public.checkpoints FOR EACH ROW EXECUTE FUNCTION reprise.fence();
CREATE TRIGGER fence BEFORE INSERT OR UPDATE ON public.checkpoint_blobs FOR EACH ROW EXECUTE FUNCTION reprise.fence();
CREATE TRIGGER fence BEFORE INSERT OR UPDATE ON public.checkpoint_writes FOR EACH ROW EXECUTE FUNCTION reprise.fence();
CREATE TRIGGER fence BEFORE INSERT OR UPDATE ON reprise.run_document FOR EACH ROW EXECUTE FUNCTION reprise.fence();
CREATE TRIGGER fence BEFORE INSERT OR UPDATE ON reprise.calls FOR EACH ROW EXECUTE FUNCTION reprise.fence();
CREATE TRIGGER fence BEFORE INSERT OR UPDATE ON reprise.effects FOR EACH ROW EXECUTE FUNCTION reprise.fence();
CREATE TRIGGER fence BEFORE INSERT OR UPDATE ON reprise.decisions FOR EACH ROW EXECUTE FUNCTION reprise.fence();
