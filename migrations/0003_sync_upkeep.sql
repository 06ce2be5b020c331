-- What keeps a mirror true beside its watch.
alter table cluster_resource
  -- Which of the member's objects, and what of them, the rows hold: namespaces, pruned paths, Secret
  -- values. Under another text the rows are to be listed anew.
  add column covers text not null default '',
  -- Some rows were made by other code or for other columns: they are being made again from their bytes.
  add column remake bool not null default false,
  -- When all keys and versions were last compared with the member, and when somebody asked for it.
  add column reconciled_at timestamptz,
  add column reconcile_wanted_at timestamptz;
