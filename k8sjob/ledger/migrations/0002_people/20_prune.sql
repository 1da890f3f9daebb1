-- What pruning needs beside prune_periods: attempts by their age, and a floor that cannot pass the mark.

-- The last period of a kind that had ended everywhere on Earth at an instant: UTC-12 ends its days
-- last. Of a scheduled period only the instant counts. k8sjob/people/prune.py has the same rule.
CREATE FUNCTION k8sjob.ended_before(kind text, instant timestamptz) RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT CASE kind
    WHEN 'scheduled' THEN to_char(timezone('UTC', instant), 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
    WHEN 'day' THEN to_char(timezone('UTC', instant) - interval '36 hours', 'YYYY-MM-DD')
    WHEN 'week' THEN to_char(timezone('UTC', instant) - interval '12 hours' - interval '7 days', 'IYYY-"W"IW')
    WHEN 'month' THEN to_char(date_trunc('month', timezone('UTC', instant) - interval '12 hours') - interval '1 day', 'YYYY-MM')
  END
$$;
COMMENT ON FUNCTION k8sjob.ended_before IS 'The last period of a kind that had ended everywhere at an instant.';

-- What lies between floor and mark was looked at and stored; past the mark nobody has looked, and a
-- floor there would hide what is missing for ever.
CREATE FUNCTION k8sjob.guard_floor() RETURNS trigger
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  v_mark timestamptz;
BEGIN
  SELECT j.done_until INTO v_mark FROM k8sjob.jobs j WHERE j.job = NEW.job AND coalesce(j.tracked_since, j.done_until) IS NOT NULL;
  IF NOT FOUND THEN RETURN NEW; END IF;
  IF v_mark IS NULL OR NEW.floor > k8sjob.ended_before(NEW.kind, v_mark) COLLATE "C" THEN
    RAISE EXCEPTION 'the floor of % would pass its mark: % is not before %', NEW.job, NEW.floor, coalesce(v_mark::text, 'any')
      USING ERRCODE = '23514', DETAIL = 'Nothing was changed.',
            HINT = 'Periods that nobody has looked at yet would be hidden. Prune up to an earlier one.';
  END IF;
  RETURN NEW;
END $$;

CREATE TRIGGER guard_floor BEFORE UPDATE OF floor ON k8sjob.gate
  FOR EACH ROW WHEN (NEW.floor IS DISTINCT FROM OLD.floor) EXECUTE FUNCTION k8sjob.guard_floor();

-- One batch, oldest first. Attempts without an end stay, and so do those of a period that is open,
-- blocked or awaiting: they are the story of something unfinished. Counters do not move.
CREATE FUNCTION k8sjob.prune_attempts(job text, before timestamptz, batch integer DEFAULT 1000) RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
DECLARE
  v_count integer;
BEGIN
  -- Parts sort behind their job: job || '/' to job || '0' ('0' follows '/').
  DELETE FROM k8sjob.attempts a USING (
    SELECT x.id FROM k8sjob.attempts x
     WHERE (x.job = prune_attempts.job OR (x.job > prune_attempts.job || '/' AND x.job < prune_attempts.job || '0'))
       AND x.started_at < before AND x.ended_at < before
       AND NOT EXISTS (SELECT FROM k8sjob.periods p WHERE p.job = x.job AND p.period = x.period
                          AND p.state IN ('open', 'blocked', 'awaiting'))
     ORDER BY x.started_at LIMIT batch) old
   WHERE a.id = old.id;
  GET DIAGNOSTICS v_count = ROW_COUNT;
  RETURN v_count;
END $$;
COMMENT ON FUNCTION k8sjob.prune_attempts IS 'Deletes attempts of a job and its parts that ended before a time. Call again until it returns 0.';
