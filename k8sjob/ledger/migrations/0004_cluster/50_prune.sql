-- oldest-client: 0.1.0
-- What a Kubernetes Job resolved to is kept as long as its attempts are: a row a Job, for ever, would
-- be the largest table of all.

CREATE INDEX resolutions_by_job ON k8sjob.resolutions (job, at);

-- As before, and the resolutions with them. Only attempts are counted.
CREATE OR REPLACE FUNCTION k8sjob.prune_attempts(job text, before timestamptz, batch integer DEFAULT 1000) RETURNS integer
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
  DELETE FROM k8sjob.resolutions r USING (
    SELECT x.job_uid FROM k8sjob.resolutions x
     WHERE x.job = prune_attempts.job AND x.at < before
       AND NOT EXISTS (SELECT FROM k8sjob.attempts a WHERE a.job = x.job AND a.period = x.period)
     ORDER BY x.at LIMIT 2 * batch) old
   WHERE r.job_uid = old.job_uid;
  RETURN v_count;
END $$;
COMMENT ON FUNCTION k8sjob.prune_attempts IS
  'Deletes attempts of a job and its parts that ended before a time, and what Jobs of then resolved to. Call again until it returns 0.';
SELECT k8sjob.close_to_all('{prune_attempts}');
