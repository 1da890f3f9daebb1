-- oldest-client: 0.1.0
-- The texts that name jobs and periods. All of them are IMMUTABLE expressions, so that CHECK
-- constraints inline them; k8sjob/period.py has the same forms and a test compares the two.

CREATE FUNCTION k8sjob.is_job(job text) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT job ~ '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?/[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?(/[A-Za-z0-9][A-Za-z0-9._@=+~-]{0,199})?$'
     AND strpos(job, '..') = 0
$$;
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
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN period = 'once' THEN 'once'
    WHEN period ~ '^(19[7-9][0-9]|2[0-9]{3})-(0[1-9]|1[0-2])$' THEN 'month'
    WHEN period ~ '^(19[7-9][0-9]|2[0-9]{3})-W(0[1-9]|[1-4][0-9]|5[0-3])$' THEN
      CASE WHEN substr(period, 7, 2)::int
             <= extract(week FROM make_date(substr(period, 1, 4)::int, 12, 28)) THEN 'week' END
    WHEN period ~ '^(19[7-9][0-9]|2[0-9]{3})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])(T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z)?$' THEN
      CASE WHEN substr(period, 9, 2)::int <= extract(day FROM
             make_date(substr(period, 1, 4)::int, substr(period, 6, 2)::int, 1) + interval '1 month -1 day')
           THEN CASE length(period) WHEN 10 THEN 'day' ELSE 'scheduled' END END
  END
$$;
COMMENT ON FUNCTION k8sjob.period_kind IS 'scheduled, day, week, month or once; null for any other text.';

CREATE FUNCTION k8sjob.period_instant(period text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN period LIKE '%Z' THEN timezone('UTC', make_timestamp(
    substr(period, 1, 4)::int, substr(period, 6, 2)::int, substr(period, 9, 2)::int,
    substr(period, 12, 2)::int, substr(period, 15, 2)::int, substr(period, 18, 2)::int)) END
$$;
COMMENT ON FUNCTION k8sjob.period_instant IS 'The instant of a scheduled period; null for natural ones.';

-- A natural period begins at a local midnight, and only Python knows the zone's rules. Without a
-- zone the earliest midnight on Earth (UTC+14) decides what is surely still in the future.
CREATE FUNCTION k8sjob.earliest_start(period text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE k8sjob.period_kind(period)
    WHEN 'scheduled' THEN k8sjob.period_instant(period)
    WHEN 'day' THEN timezone('UTC', make_timestamp(
      substr(period, 1, 4)::int, substr(period, 6, 2)::int, substr(period, 9, 2)::int, 0, 0, 0)) - interval '14 hours'
    WHEN 'month' THEN timezone('UTC', make_timestamp(
      substr(period, 1, 4)::int, substr(period, 6, 2)::int, 1, 0, 0, 0)) - interval '14 hours'
    WHEN 'week' THEN timezone('UTC', make_timestamp(substr(period, 1, 4)::int, 1, 4, 0, 0, 0))
      - make_interval(days => extract(isodow FROM make_date(substr(period, 1, 4)::int, 1, 4))::int - 1)
      + make_interval(days => 7 * (substr(period, 7, 2)::int - 1)) - interval '14 hours'
  END
$$;

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
