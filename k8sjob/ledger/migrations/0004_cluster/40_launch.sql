-- oldest-client: 0.1.0
-- Jobs that backfill and catch-up make: noted before they are created, so that whoever comes next, or
-- after a crash, comes to the same name and so to the same Job.

-- Notes a Job that is about to be created (no uid yet), or that is there (with its uid). The first note
-- of a period, generation and try decides when and why; a later one adds the uid that was not known.
CREATE FUNCTION k8sjob.note_launch(
  job text, period text, generation integer, try integer, k8s_name text, reason text, uid text DEFAULT NULL
) RETURNS void
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
#variable_conflict use_variable
BEGIN
  PERFORM k8sjob.check_key(job, period);
  PERFORM k8sjob.check_reason(reason, format('launch %s:%s', job, period));
  INSERT INTO k8sjob.launches AS l (job, period, generation, try, k8s_name, uid, reason)
  VALUES (job, period, generation, try, k8s_name, uid, reason)
  ON CONFLICT ON CONSTRAINT launches_pkey DO UPDATE SET k8s_name = excluded.k8s_name, uid = excluded.uid
   WHERE l.uid IS NULL;
END $$;
COMMENT ON FUNCTION k8sjob.note_launch IS
  'Backfill, catch-up: a Job of this name is about to be created for a period, or with uid: is there.';

INSERT INTO k8sjob.rights (function, capability) VALUES ('note_launch', 'operator');
SELECT k8sjob.close_to_all('{note_launch}');
