INSERT INTO k8sjob.rights (function, capability) VALUES
  ('ended_before', 'reader'), ('decide', 'operator'), ('prune_attempts', 'operator');
SELECT k8sjob.close_to_all('{decide,ended_before,guard_floor,prune_attempts}');
