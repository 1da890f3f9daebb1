-- The ledger's tables. Keys are text COLLATE "C": byte order, whatever the database's locale.

CREATE TABLE k8sjob.ledger (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  id uuid NOT NULL DEFAULT gen_random_uuid(),
  cluster text
);
INSERT INTO k8sjob.ledger DEFAULT VALUES;
COMMENT ON TABLE k8sjob.ledger IS 'One row: which ledger this is and which cluster it serves.';

CREATE TABLE k8sjob.grants (
  capability text NOT NULL CHECK (capability IN ('operator', 'runner', 'reader')),
  grantee text NOT NULL,
  PRIMARY KEY (capability, grantee)
);
COMMENT ON TABLE k8sjob.grants IS 'To whom migrate has granted what, so that a later migration can grant new functions too.';

CREATE TABLE k8sjob.jobs (
  job text COLLATE "C" PRIMARY KEY CHECK (k8sjob.is_job(job)),
  namespace text NOT NULL GENERATED ALWAYS AS (split_part(job, '/', 1)) STORED,
  name text NOT NULL GENERATED ALWAYS AS (split_part(job, '/', 2)) STORED,
  part text GENERATED ALWAYS AS (nullif(split_part(job, '/', 3), '')) STORED,
  cronjob text,
  zone text,
  catch_up text NOT NULL DEFAULT 'flag' CHECK (catch_up IN ('flag', 'skip', 'every', 'latest')),
  limits jsonb NOT NULL DEFAULT '{}',
  grace_s integer CHECK (grace_s >= 0),
  max_duration_s integer CHECK (max_duration_s > 0),
  retention_s bigint CHECK (retention_s > 0),
  owner text,
  severity text,
  runbook text,
  tracked_since timestamptz,
  done_until timestamptz,
  suspended boolean NOT NULL DEFAULT false,
  gone_at timestamptz,
  last_success_at timestamptz,
  consecutive_failures integer NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE k8sjob.jobs IS 'What is known of a job. Never locked by a claim: that is what the gate is for.';

CREATE TABLE k8sjob.gate (
  job text COLLATE "C" PRIMARY KEY CHECK (k8sjob.is_job(job) AND job = k8sjob.whole_job(job)),
  kind text NOT NULL CHECK (kind IN ('scheduled', 'day', 'week', 'month', 'once')),
  floor text COLLATE "C" CHECK (floor IS NULL OR (k8sjob.period_kind(floor) = kind AND kind <> 'once'))
) WITH (fillfactor = 50);
COMMENT ON TABLE k8sjob.gate IS
  'A narrow row that each claim locks FOR SHARE: the kind of the job''s periods and its retention floor. Periods of one kind sort by their text.';

CREATE TABLE k8sjob.holds (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  namespace text,
  job text COLLATE "C" CHECK (k8sjob.is_job(job) AND job = k8sjob.whole_job(job) AND namespace = split_part(job, '/', 1)),
  from_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  until timestamptz,
  reason text NOT NULL CHECK (reason ~ '[^[:space:]]'),
  set_by text NOT NULL,
  set_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  set_by_user text NOT NULL DEFAULT session_user,
  lifted_by text,
  lifted_at timestamptz,
  lifted_by_user text,
  lift_reason text,
  CHECK (lifted_at IS NULL OR coalesce(lift_reason, '') ~ '[^[:space:]]')
);
CREATE INDEX holds_in_force ON k8sjob.holds (namespace, job) WHERE lifted_at IS NULL;
COMMENT ON TABLE k8sjob.holds IS 'A job, a namespace (job is null) or all (both are null) that must not be claimed for now.';

CREATE TABLE k8sjob.scopes (
  scope text PRIMARY KEY,
  last_complete_list_at timestamptz
);

CREATE TABLE k8sjob.passes (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  scope text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz,
  ok boolean,
  failing integer,
  message text
);
CREATE INDEX passes_by_scope ON k8sjob.passes (scope, started_at);

CREATE TABLE k8sjob.schedule_versions (
  job text COLLATE "C" NOT NULL CHECK (k8sjob.is_job(job)),
  n integer NOT NULL,
  expr text NOT NULL,
  zone text,
  suspended boolean NOT NULL DEFAULT false,
  earliest_from timestamptz NOT NULL,
  valid_from timestamptz NOT NULL,
  valid_to timestamptz,
  cronjob_uid text,
  PRIMARY KEY (job, n),
  CHECK (earliest_from <= valid_from),
  CHECK (valid_to >= valid_from)
);

-- What a period's columns keep to among themselves, in one function: each CHECK constraint is read and
-- planned anew by each INSERT, and seven of them cost a tenth of a claim (measured).
CREATE FUNCTION k8sjob.is_sound(
  period text, scheduled_for timestamptz, window_end timestamptz, state text, generation integer,
  reason text, until timestamptz, payload_sha256 bytea, done_at timestamptz
) RETURNS boolean
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF state = 'done' THEN
    RETURN scheduled_for = k8sjob.period_instant(period)
       AND window_end > scheduled_for AND generation >= 0 AND length(payload_sha256) = 32 AND done_at IS NOT NULL AND until IS NULL;
  END IF;
  RETURN scheduled_for = k8sjob.period_instant(period)
     AND window_end > scheduled_for AND generation >= 0 AND length(payload_sha256) = 32 AND done_at IS NULL
     AND (state = 'open' OR coalesce(reason, '') ~ '[^[:space:]]')
     AND (until IS NULL OR state = 'blocked');
END $$;

CREATE TABLE k8sjob.periods (
  job text COLLATE "C" NOT NULL CHECK (k8sjob.is_job(job)),
  period text COLLATE "C" NOT NULL CHECK (k8sjob.period_kind(period) IS NOT NULL),
  scheduled_for timestamptz,
  window_end timestamptz,
  zone text,
  schedule_n integer,
  state text NOT NULL CHECK (state IN ('open', 'done', 'blocked', 'awaiting', 'skipped')),
  generation integer NOT NULL DEFAULT 0,
  deadline_at timestamptz,
  uncertain boolean NOT NULL DEFAULT false,
  origin text NOT NULL,
  reason_code text,
  reason text,
  until timestamptz,
  attempt uuid,
  payload_sha256 bytea,
  done_at timestamptz,
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  db_user text NOT NULL DEFAULT session_user,
  superseded_by text COLLATE "C",
  indicator text,
  before jsonb,
  after jsonb,
  expected_delta numeric,
  recheck_after timestamptz,
  await_deadline timestamptz,
  PRIMARY KEY (job, period),
  CHECK (k8sjob.is_sound(period, scheduled_for, window_end, state, generation, reason, until, payload_sha256, done_at))
);
CREATE INDEX periods_unfinished ON k8sjob.periods (job, deadline_at) WHERE state IN ('open', 'blocked', 'awaiting');
CREATE UNIQUE INDEX periods_one_awaiting ON k8sjob.periods (indicator) WHERE state = 'awaiting' AND expected_delta IS NULL;
COMMENT ON TABLE k8sjob.periods IS
  'One row a period that was claimed, expected or decided on. A row goes only by pruning; a done row is its own done event.';

CREATE TABLE k8sjob.attempts (
  id uuid PRIMARY KEY,
  job text COLLATE "C" NOT NULL CHECK (k8sjob.is_job(job)),
  period text COLLATE "C" NOT NULL CHECK (k8sjob.period_kind(period) IS NOT NULL),
  generation integer NOT NULL DEFAULT 0,
  mode text NOT NULL,
  source text NOT NULL,
  job_uid text,
  job_name text,
  pod_uid text,
  pod_name text,
  node text,
  pid integer,
  db_user text NOT NULL DEFAULT session_user,
  client text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  heartbeat_at timestamptz,
  ended_at timestamptz,
  outcome text CHECK (outcome IN ('applied', 'duplicate', 'conflict', 'blocked', 'awaiting', 'skipped', 'expired',
                                  'future', 'busy', 'in-doubt', 'failed', 'unproven', 'lost')),
  exit_code integer,
  speaker text CHECK (speaker IN ('k8sjob', 'child')),
  message text,
  tail text,
  CHECK ((ended_at IS NULL) = (outcome IS NULL))
);
CREATE INDEX attempts_by_period ON k8sjob.attempts (job, period);
CREATE INDEX attempts_by_start ON k8sjob.attempts (job, started_at);
CREATE INDEX attempts_alive ON k8sjob.attempts (job, period) WHERE ended_at IS NULL;
COMMENT ON TABLE k8sjob.attempts IS
  'Each try that reached the ledger, written before its work. No foreign key: an attempt outlives its period and the other way round.';

CREATE TABLE k8sjob.resolutions (
  job_uid text PRIMARY KEY,
  job text COLLATE "C" NOT NULL CHECK (k8sjob.is_job(job)),
  period text COLLATE "C" NOT NULL CHECK (k8sjob.period_kind(period) IS NOT NULL),
  source text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE k8sjob.resolutions IS 'What a Kubernetes Job resolved to: a retry never resolves to something else.';

CREATE TABLE k8sjob.launches (
  job text COLLATE "C" NOT NULL CHECK (k8sjob.is_job(job)),
  period text COLLATE "C" NOT NULL CHECK (k8sjob.period_kind(period) IS NOT NULL),
  generation integer NOT NULL,
  try integer NOT NULL,
  k8s_name text NOT NULL,
  uid text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  started_at timestamptz,
  reason text,
  PRIMARY KEY (job, period, generation, try)
);

CREATE TABLE k8sjob.events (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  job text COLLATE "C" NOT NULL CHECK (k8sjob.is_job(job)),
  period text COLLATE "C" NOT NULL CHECK (k8sjob.period_kind(period) IS NOT NULL),
  generation integer NOT NULL DEFAULT 0,
  kind text NOT NULL,
  from_state text,
  to_state text NOT NULL,
  by text NOT NULL,
  db_user text NOT NULL DEFAULT session_user,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  reason text NOT NULL CHECK (reason ~ '[^[:space:]]'),
  attempt uuid,
  prior jsonb,
  CHECK (k8sjob.may_move(from_state, to_state))
);
CREATE INDEX events_by_period ON k8sjob.events (job, period, id);
COMMENT ON TABLE k8sjob.events IS 'Every change of a state but the claim''s own: from, to, who, when, why, and the row as it was.';

CREATE TABLE k8sjob.counters (
  job text COLLATE "C" NOT NULL,
  outcome text NOT NULL,
  n bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (job, outcome)
);
COMMENT ON TABLE k8sjob.counters IS 'Attempts by outcome since ever; moved at an attempt''s end, never inside a claim, and not by pruning.';

CREATE TABLE k8sjob.outbox (
  id uuid PRIMARY KEY,
  job text COLLATE "C" NOT NULL CHECK (k8sjob.is_job(job)),
  period text COLLATE "C" NOT NULL CHECK (k8sjob.period_kind(period) IS NOT NULL),
  generation integer NOT NULL DEFAULT 0,
  n integer NOT NULL,
  destination text NOT NULL,
  headers jsonb NOT NULL DEFAULT '{}',
  body bytea NOT NULL,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'sent', 'dead')),
  tries integer NOT NULL DEFAULT 0,
  next_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  leased_until timestamptz,
  error text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  sent_at timestamptz,
  UNIQUE (job, period, generation, n)
);
CREATE INDEX outbox_pending ON k8sjob.outbox (next_at) WHERE state = 'pending';

CREATE TABLE k8sjob.tasks (
  queue text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  job text COLLATE "C" NOT NULL CHECK (k8sjob.is_job(job)),
  title text NOT NULL DEFAULT '',
  points numeric NOT NULL DEFAULT 0,
  ordinal integer NOT NULL DEFAULT 0,
  cycle text,
  note text,
  PRIMARY KEY (queue, id)
);
