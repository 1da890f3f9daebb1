-- The ledger in a SQLite file (3.40 or later). SQLite has no schemas, so the tables carry a prefix.
-- Times are text, UTC, ISO 8601 with microseconds and Z: they sort as they are.

CREATE TABLE k8sjob_jobs (
  job TEXT PRIMARY KEY NOT NULL,
  zone TEXT,
  last_success_at TEXT,
  consecutive_failures INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE k8sjob_gate (
  job TEXT PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('scheduled', 'day', 'week', 'month', 'once')),
  floor TEXT
) STRICT, WITHOUT ROWID;

CREATE TABLE k8sjob_holds (
  id INTEGER PRIMARY KEY,
  namespace TEXT,
  job TEXT,
  from_at TEXT NOT NULL,
  until TEXT,
  reason TEXT NOT NULL CHECK (trim(reason, char(9, 10, 11, 12, 13, 32)) <> ''),
  set_by TEXT NOT NULL,
  set_at TEXT NOT NULL,
  lifted_by TEXT,
  lifted_at TEXT,
  lift_reason TEXT
) STRICT;

-- The same texts as k8sjob/key.py and k8sjob/period.py take, by a test. Text and blob are equally long
-- where all is ASCII and nothing hides behind a NUL. A period is in its canonical form if SQLite's own
-- calendar gives the same text back (without '+0 days' it gives back February 31 too). An ISO year has
-- 53 weeks if it begins or ends on a Thursday.
CREATE TABLE k8sjob_periods (
  job TEXT NOT NULL CHECK (
    length(job) = length(CAST(job AS BLOB))
    AND NOT job GLOB '*[^-A-Za-z0-9._@=+~/]*' AND NOT job GLOB '*/[^A-Za-z0-9]*' AND NOT job GLOB '*/'
    AND instr(job, '..') = 0 AND instr(job, '-/') = 0 AND instr(job, './') = 0
    AND job GLOB '[a-z0-9]*' AND NOT substr(job, 1, instr(job, '/') - 1) GLOB '*[^-a-z0-9]*' AND instr(job, '/') <= 64
    AND CASE length(job) - length(replace(job, '/', ''))
      WHEN 1 THEN job GLOB '*[a-z0-9]' AND NOT job GLOB '*/*[^-a-z0-9.]*' AND length(job) - instr(job, '/') <= 253
      WHEN 2 THEN NOT job GLOB '*/*[^-a-z0-9.]*/*' AND instr(substr(job, instr(job, '/') + 1), '/') <= 254
        AND length(job) - instr(job, '/') - instr(substr(job, instr(job, '/') + 1), '/') <= 200
      ELSE 0 END),
  period TEXT NOT NULL CHECK (length(period) = length(CAST(period AS BLOB)) AND CASE
    WHEN period GLOB '19[7-9][0-9]-*' OR period GLOB '2[0-9][0-9][0-9]-*' THEN coalesce(
      (period GLOB '????-??-??T??:??:??Z' AND strftime('%Y-%m-%dT%H:%M:%SZ', period, '+0 days') = period)
      OR (period GLOB '????-??-??' AND date(period, '+0 days') = period)
      OR (period GLOB '????-??' AND strftime('%Y-%m', period || '-01') = period)
      OR (period GLOB '????-W[0-5][0-9]' AND substr(period, 7) BETWEEN '01' AND
          CASE WHEN '4' IN (strftime('%w', substr(period, 1, 4) || '-01-01'), strftime('%w', substr(period, 1, 4) || '-12-31'))
               THEN '53' ELSE '52' END), 0)
    ELSE period = 'once' END),
  scheduled_for TEXT,
  window_end TEXT,
  zone TEXT,
  state TEXT NOT NULL CHECK (state IN ('open', 'done', 'blocked', 'awaiting', 'skipped')),
  generation INTEGER NOT NULL DEFAULT 0,
  origin TEXT NOT NULL,
  reason TEXT,
  until TEXT,
  attempt TEXT,
  payload_sha256 BLOB CHECK (length(payload_sha256) = 32),
  done_at TEXT,
  changed_at TEXT NOT NULL,
  indicator TEXT,
  before TEXT,
  after TEXT,
  expected_delta TEXT,
  recheck_after TEXT,
  await_deadline TEXT,
  PRIMARY KEY (job, period),
  CHECK ((state = 'done') = (done_at IS NOT NULL)),
  CHECK (state NOT IN ('blocked', 'skipped', 'awaiting') OR coalesce(trim(reason, char(9, 10, 11, 12, 13, 32)), '') <> ''),
  CHECK (until IS NULL OR state = 'blocked')
) STRICT, WITHOUT ROWID;
CREATE INDEX k8sjob_periods_unfinished ON k8sjob_periods (job, period) WHERE state IN ('open', 'blocked', 'awaiting');
CREATE UNIQUE INDEX k8sjob_periods_one_awaiting ON k8sjob_periods (indicator) WHERE state = 'awaiting' AND expected_delta IS NULL;

CREATE TABLE k8sjob_attempts (
  id TEXT PRIMARY KEY NOT NULL,
  job TEXT NOT NULL,
  period TEXT NOT NULL,
  generation INTEGER NOT NULL DEFAULT 0,
  mode TEXT NOT NULL,
  source TEXT NOT NULL,
  job_uid TEXT,
  job_name TEXT,
  pod_uid TEXT,
  pod_name TEXT,
  node TEXT,
  pid INTEGER,
  client TEXT NOT NULL,
  started_at TEXT NOT NULL,
  heartbeat_at TEXT,
  ended_at TEXT,
  outcome TEXT CHECK (outcome IN ('applied', 'duplicate', 'conflict', 'blocked', 'awaiting', 'skipped', 'expired',
                                  'future', 'busy', 'in-doubt', 'failed', 'unproven', 'lost')),
  exit_code INTEGER,
  speaker TEXT CHECK (speaker IN ('k8sjob', 'child')),
  message TEXT,
  tail TEXT,
  CHECK ((ended_at IS NULL) = (outcome IS NULL))
) STRICT, WITHOUT ROWID;
CREATE INDEX k8sjob_attempts_by_period ON k8sjob_attempts (job, period);

CREATE TABLE k8sjob_events (
  id INTEGER PRIMARY KEY,
  job TEXT NOT NULL,
  period TEXT NOT NULL,
  generation INTEGER NOT NULL DEFAULT 0,
  kind TEXT NOT NULL,
  from_state TEXT,
  to_state TEXT NOT NULL,
  "by" TEXT NOT NULL,
  at TEXT NOT NULL,
  reason TEXT NOT NULL CHECK (trim(reason, char(9, 10, 11, 12, 13, 32)) <> ''),
  attempt TEXT,
  prior TEXT
) STRICT;

CREATE TABLE k8sjob_counters (
  job TEXT NOT NULL,
  outcome TEXT NOT NULL,
  n INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (job, outcome)
) STRICT, WITHOUT ROWID;

CREATE TABLE k8sjob_tasks (
  queue TEXT NOT NULL,
  id TEXT NOT NULL,
  job TEXT NOT NULL,
  title TEXT NOT NULL DEFAULT '',
  points REAL NOT NULL DEFAULT 0,
  ordinal INTEGER NOT NULL DEFAULT 0,
  cycle TEXT,
  note TEXT,
  PRIMARY KEY (queue, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE k8sjob_migrations (
  version INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  applied_at TEXT NOT NULL,
  oldest_client TEXT NOT NULL
) STRICT;
