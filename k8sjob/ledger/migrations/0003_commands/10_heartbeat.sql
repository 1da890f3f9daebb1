-- oldest-client: 0.1.0
-- Signs of life of long runs. Only of one's own attempts, and only while they have no end.

CREATE FUNCTION k8sjob.heartbeat(id uuid) RETURNS boolean
LANGUAGE sql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  UPDATE k8sjob.attempts a SET heartbeat_at = clock_timestamp()
   WHERE a.id = heartbeat.id AND a.ended_at IS NULL AND a.db_user = session_user RETURNING true
$$;
COMMENT ON FUNCTION k8sjob.heartbeat IS 'A sign of life of an attempt of one''s own.';

INSERT INTO k8sjob.rights (function, capability) VALUES ('heartbeat', 'runner');
SELECT k8sjob.close_to_all('{heartbeat}');
