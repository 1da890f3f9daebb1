-- oldest-client: 0.1.0
-- The texts that name jobs and periods; k8sjob/period.py has the same forms and a test compares
-- the two. What a claim meets is PL/pgSQL: a body in SQL would be inlined into the CHECK constraint
-- and parsed and planned anew by each INSERT, which cost more than all the rest of a claim (measured).

CREATE FUNCTION k8sjob.is_job(job text) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  -- Lengths stand apart: bounds such as {0,251} make the match 40 times slower (measured).
  IF length(job) > 63 THEN
    IF length(split_part(job, '/', 1)) > 63 OR length(split_part(job, '/', 2)) > 253 OR length(split_part(job, '/', 3)) > 200 THEN
      RETURN false;
    END IF;
  END IF;
  RETURN job ~ '^[a-z0-9]([-a-z0-9]*[a-z0-9])?/[a-z0-9]([-a-z0-9.]*[a-z0-9])?(/[A-Za-z0-9][A-Za-z0-9._@=+~-]*)?$' AND strpos(job, '..') = 0;
END $$;
COMMENT ON FUNCTION k8sjob.is_job IS 'Whether the text is namespace/name or namespace/name/part.';

-- Gate, holds and floor are of the job, not of its parts.
CREATE FUNCTION k8sjob.whole_job(job text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT split_part(job, '/', 1) || '/' || split_part(job, '/', 2)
$$;
COMMENT ON FUNCTION k8sjob.whole_job IS 'The job that a part belongs to; a job without a part is its own.';

-- The regular expression bounds each number, so make_date and make_timestamp cannot fail: days are
-- compared with the length of their month, weeks with the number of ISO weeks of their year.
CREATE FUNCTION k8sjob.period_kind(period text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  -- Cases apart: an expression costs, once a transaction, what is in it, reached or not.
  IF period ~ '^(19[7-9][0-9]|2[0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z)?$' THEN
    IF substr(period, 9, 2) > '28' COLLATE "C" THEN
      IF substr(period, 9, 2)::int > extract(day FROM
           make_date(substr(period, 1, 4)::int, substr(period, 6, 2)::int, 1) + interval '1 month -1 day') THEN
        RETURN NULL;
      END IF;
    END IF;
    RETURN CASE length(period) WHEN 10 THEN 'day' ELSE 'scheduled' END;
  END IF;
  RETURN CASE
    WHEN period = 'once' THEN 'once'
    WHEN period ~ '^(19[7-9][0-9]|2[0-9]{3})-(0[1-9]|1[0-2])$' THEN 'month'
    WHEN period ~ '^(19[7-9][0-9]|2[0-9]{3})-W(0[1-9]|[1-4][0-9]|5[0-3])$' THEN
      CASE WHEN substr(period, 7, 2)::int
             <= extract(week FROM make_date(substr(period, 1, 4)::int, 12, 28)) THEN 'week' END
  END;
END $$;
COMMENT ON FUNCTION k8sjob.period_kind IS 'scheduled, day, week, month or once; null for any other text.';

CREATE FUNCTION k8sjob.period_instant(period text) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN CASE WHEN period LIKE '%Z' THEN period::timestamptz END; -- ISO 8601 in UTC reads the same under every setting
END $$;
COMMENT ON FUNCTION k8sjob.period_instant IS 'The instant of a scheduled period; null for natural ones.';

-- A natural period begins at a local midnight, and only Python knows the zone's rules. Without a
-- zone the earliest midnight on Earth (UTC+14) decides what is surely still in the future. Days are
-- added without a zone: with one, the session's own clock changes would count.
CREATE FUNCTION k8sjob.earliest_start(period text) RETURNS timestamptz
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE AS $$
BEGIN
  RETURN CASE k8sjob.period_kind(period)
    WHEN 'scheduled' THEN k8sjob.period_instant(period)
    WHEN 'day' THEN timezone('UTC', make_timestamp(
      substr(period, 1, 4)::int, substr(period, 6, 2)::int, substr(period, 9, 2)::int, 0, 0, 0)) - interval '14 hours'
    WHEN 'month' THEN timezone('UTC', make_timestamp(
      substr(period, 1, 4)::int, substr(period, 6, 2)::int, 1, 0, 0, 0)) - interval '14 hours'
    WHEN 'week' THEN timezone('UTC', make_timestamp(substr(period, 1, 4)::int, 1, 4, 0, 0, 0)
      + make_interval(days => 7 * (substr(period, 7, 2)::int - 1)
                              - extract(isodow FROM make_date(substr(period, 1, 4)::int, 1, 4))::int + 1)) - interval '14 hours'
  END;
END $$;

-- Stored states only; docs/states.md draws them and k8sjob/states.py has the same table.
CREATE FUNCTION k8sjob.may_move(from_state text, to_state text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE coalesce(from_state, 'absent')
    WHEN 'absent' THEN to_state IN ('open', 'done', 'blocked', 'awaiting', 'skipped')
    WHEN 'open' THEN to_state IN ('done', 'blocked', 'awaiting', 'skipped')
    WHEN 'blocked' THEN to_state IN ('open', 'done')
    WHEN 'skipped' THEN to_state = 'open'
    WHEN 'awaiting' THEN to_state IN ('done', 'blocked', 'open')
    WHEN 'done' THEN to_state IN ('awaiting', 'open')
    ELSE false
  END
$$;
COMMENT ON FUNCTION k8sjob.may_move IS 'Whether a period may go from one state (null: no row) to another.';
