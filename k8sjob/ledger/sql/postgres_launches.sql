-- What whoever makes Jobs asks of the Postgres ledger. Each query stands under its name.

-- name: cronjob
SELECT j.cronjob FROM k8sjob.jobs j WHERE j.job = %(job)s

-- name: launched
SELECT l.job, l.period, l.generation, l.try, l.k8s_name, l.reason, l.uid, l.created_at
  FROM unnest(%(jobs)s::text[], %(periods)s::text[]) k (job, period)
  JOIN k8sjob.launches l ON l.job = k.job AND l.period = k.period
 ORDER BY l.job, l.period, l.generation, l.try

-- name: note
SELECT k8sjob.note_launch(%(job)s, %(period)s, %(generation)s, %(try_)s, %(k8s_name)s, %(reason)s, uid => %(uid)s)
