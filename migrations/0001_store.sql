-- The mirror: which clusters and types there are, their objects, what changed, and how far we are.
--
-- Everything of one member cluster is keyed and partitioned by cluster_id, and every writing
-- statement names one cluster: so the tables can be distributed by cluster (Citus) as they are.
-- The settings that depend on the server (lz4) are made in 0002.
create extension if not exists pg_trgm;

-- One row per registration of a member cluster. A cluster that was removed and registered again
-- is another row: its old objects disappear for readers at once and are purged in batches.
create table cluster (
  id               int4 generated always as identity primary key,
  name             text collate "C" not null,
  registration_uid text not null unique,        -- metadata.uid of the PediaCluster
  labels           jsonb not null default '{}', -- of the PediaCluster, for cluster selectors
  version          text,                        -- the member's /version document, as it sent it
  -- What readers are warned of. Written by the syncer when it changes; null is in step.
  stale_reason     text,
  stale_since      timestamptz,                 -- last time it was in step
  registered_at    timestamptz not null default now(),
  removed_at       timestamptz
);
create unique index cluster_live on cluster (name) where removed_at is null;

-- Who syncs a cluster. Locked, and its epoch compared, in every transaction that writes objects.
create table cluster_lease (
  cluster_id int4 primary key,
  holder     text not null,
  epoch      int8 not null,
  expires_at timestamptz not null,
  last_seq   int8 not null default 0             -- of the change log
);

-- A type is (group, resource), whatever version or former group a member serves it in.
create table resource_type (
  id        int4 generated always as identity primary key,
  api_group text collate "C" not null,
  resource  text collate "C" not null,
  unique (api_group, resource)
);

-- The columns that made a row's cells; equal columns are one row.
create table column_set (
  id      int4 generated always as identity primary key,
  digest  text not null unique,
  columns text not null                          -- JSON array of meta.k8s.io/v1 column definitions
);

-- One type of one cluster: what its discovery says, and how far its mirror is.
create table cluster_resource (
  cluster_id        int4 not null,
  type_id           int4 not null,
  kind              text not null,
  list_kind         text not null,
  singular_name     text not null default '',
  short_names       text[] not null default '{}',
  categories        text[] not null default '{}',
  namespaced        bool not null,
  api_version       text not null,               -- the one it is listed in: 'networking.k8s.io/v1beta1'
  served_versions   text[] not null,             -- every apiVersion the member serves it in, best first
  columns_id        int4,                        -- of the newest rows
  -- The sync position. It moves only in a transaction that stores what it covers.
  resource_version  text,                        -- null: the list is not complete, a watch cannot start
  control_plane_uid text,                        -- of the member when resource_version was taken
  status            text not null default 'Pending',
  reason            text not null default '',
  message           text not null default '',
  changed_at        timestamptz not null default now(),
  primary key (cluster_id, type_id)
);

-- One row per object. `head || metadata || tail` is the JSON to send; a table row is `cells`.
create table object (
  cluster_id        int4 not null,
  type_id           int4 not null,
  namespace         text collate "C" not null,   -- '' when cluster-scoped
  name              text collate "C" not null,
  uid               text collate "C" not null,
  resource_version  text collate "C" not null,   -- the member's; digits of any length
  api_version       text collate "C" not null,
  created_at        timestamptz,
  columns_id        int4 not null,
  rv_offset         int4 not null,               -- where metadata's resourceVersion value starts, in bytes
  tokens            int8[] not null,             -- kube/search-token.ts; those outside status
  cells             text not null,               -- JSON values joined by commas, times as marks: printers/cell.ts
  head              text not null,
  metadata          text not null,
  tail              text not null,
  primary key (cluster_id, type_id, namespace, name)
) partition by hash (cluster_id);

-- Tokens under `status`, apart so that a status change touches no index of `object`.
create table object_status (
  cluster_id int4 not null,
  type_id    int4 not null,
  namespace  text collate "C" not null,
  name       text collate "C" not null,
  tokens     int8[] not null,
  primary key (cluster_id, type_id, namespace, name)
) partition by hash (cluster_id);

-- fillfactor leaves room on each page, so that a change stays on it and touches no index (HOT).
-- Vacuum comes early, because a mirror is changed all the time and reads want its pages compact.
-- Analyze does not: it looks at every token of its rows, changes of status say nothing new to it, and
-- after a first list store/refresh-statistics.ts tells the planner what it must know.
do $$
begin
  for i in 0..15 loop
    execute format('create table object_%s partition of object for values with (modulus 16, remainder %s) with (
      fillfactor = 85, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.2,
      autovacuum_vacuum_insert_scale_factor = 0.1)', i, i);
    execute format('create table object_status_%s partition of object_status for values with (modulus 16, remainder %s) with (
      fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.2,
      autovacuum_vacuum_insert_scale_factor = 0.1)', i, i);
  end loop;
end $$;

-- Nulls last, as answers are ordered; read backwards it serves the ascending order too.
create index object_created on object (type_id, created_at desc nulls last, cluster_id, namespace, name);
-- Each partition keeps a pending list for each GIN index. At the default of 4 MB these leave 105 MB of
-- empty pages behind a first list of 120,000 objects; at 512 kB that list takes 4 % longer.
create index object_tokens on object using gin (tokens) with (gin_pending_list_limit = 512);
-- An expression: on the plain column the planner would take this index for joins on name.
create index object_name_trigrams on object using gin ((name || '') gin_trgm_ops) with (gin_pending_list_limit = 512);
create index object_status_tokens on object_status using gin (tokens) with (gin_pending_list_limit = 512);

-- One change of one object as a writer hands it over: a batch is one array of these, sent in
-- binary as one parameter (store/encode-changes.ts writes the fields in this order).
create type object_change as (
  op               "char",                       -- P put, D delete; of a delete only the key is given
  namespace        text,
  name             text,
  uid              text,
  resource_version text,
  api_version      text,
  created_at       timestamptz,
  rv_offset        int4,
  tokens           int8[],
  status_tokens    int8[],
  cells            text,
  head             text,
  metadata         text,
  tail             text
);

-- What changed, in order per cluster. seq is taken under the cluster's lease row, so commit order
-- and sequence agree; gaps and rollbacks stall nobody.
create table change (
  cluster_id       int4 not null,
  seq              int8 not null,
  at               timestamptz not null default now(),
  type_id          int4 not null,
  op               "char" not null,              -- A added, M modified, D deleted
  namespace        text collate "C" not null,
  name             text collate "C" not null,
  uid              text collate "C" not null,
  resource_version text collate "C" not null,
  primary key (cluster_id, seq)
);
create index change_age on change using brin (at);
-- Written at one end and deleted at the other.
alter table change set (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);

-- One row per writing transaction: what the sequencer stamps with fleet revisions.
-- The change with sequence s has revision last_revision - (last_seq - s).
create table change_batch (
  cluster_id    int4 not null,
  last_seq      int8 not null,
  first_seq     int8 not null,
  last_revision int8,                            -- null until stamped
  primary key (cluster_id, last_seq)
);
create index change_batch_unstamped on change_batch (cluster_id, last_seq) where last_revision is null;
create index change_batch_revision on change_batch (last_revision);
alter table change_batch set (autovacuum_vacuum_scale_factor = 0.02);

-- The newest revision that was stamped, and the floor below which the log is gone.
create table fleet_revision (
  only_row bool primary key default true check (only_row),
  latest   int8 not null default 1,
  floor    int8 not null default 0
);
insert into fleet_revision default values;

-- Few rows, each changed by every writing transaction: room for versions on the page, and vacuum
-- by count, not by share.
alter table cluster_lease set (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);
alter table cluster_resource set (fillfactor = 40, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
alter table fleet_revision set (fillfactor = 10, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 500);

-- OpenAPI documents of members: equal documents are stored once.
create table openapi_document (
  digest text primary key,                       -- hex SHA-512 of the document
  body   bytea not null                          -- gzip
);
create table cluster_openapi (
  cluster_id int4 not null,
  path       text collate "C" not null,          -- 'apis/apps/v1', as in /openapi/v3
  digest     text not null,
  primary key (cluster_id, path)
);

-- The objects of our own API groups: registrations and rights (standalone mode).
create table registration (
  api_group        text collate "C" not null,
  resource         text collate "C" not null,
  name             text collate "C" not null,
  uid              text not null,
  resource_version int8 not null,
  object           text not null,                -- JSON as served: secrets are digests in it
  credentials      bytea,                        -- sealed (keyring.ts): the secrets themselves
  primary key (api_group, resource, name)
);
-- One counter, locked by every write, so that its order is the order of commits.
create table registration_revision (
  only_row bool primary key default true check (only_row),
  latest   int8 not null default 1,
  floor    int8 not null default 0               -- below it a watch gets 410
);
insert into registration_revision default values;
create table registration_event (
  resource_version int8 primary key,
  at               timestamptz not null default now(),
  api_group        text collate "C" not null,
  resource         text collate "C" not null,
  name             text collate "C" not null,
  type             text not null,                -- ADDED, MODIFIED, DELETED
  object           text not null,                -- after the change; of DELETED, the last state
  previous         text                          -- before a MODIFIED: tells whether a selection was entered or left
);

create table access_token (
  id         text primary key,                   -- the public half of the token
  digest     bytea not null,                     -- SHA-256 of the secret half
  name       text not null unique,
  user_name  text not null,
  groups     text[] not null default '{}',
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  revoked_at timestamptz
);

-- Reading stored JSON by path, for what tokens cannot answer. PostgreSQL's own operators refuse a
-- whole document for one \u0000 or lone surrogate in it, so such escapes are first written as
-- U+E000 and their four digits, U+E000 itself likewise: one to one, so that comparisons stay exact.
-- store/values-at-path.ts does the same to what it is compared with.
create function json_without_odd_characters(document text) returns text
language sql immutable strict parallel safe as $$
  select string_agg(
    case when part[1] ~* '^\\u(0000|e000|d[89a-f]..)$' then U&'\E000' || lower(substr(part[1], 3)) else part[1] end,
    '' order by place)
  from regexp_matches(
    replace(document, U&'\E000', U&'\E000e000'),
    '([^\\]+|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.)',
    'g') with ordinality as parts (part, place)
$$;

-- A step is '.key', '[]' (every element) or '[1]'. Of a key that occurs twice the last one counts.
create function nodes_at_path(document text, path text[]) returns json[]
language plpgsql immutable strict as $$
declare
  nodes json[];
  step  text;
begin
  if strpos(document, U&'\E000') > 0
    or (strpos(document, '\u') > 0 and document ~* '\\u(0000|e000|d[89a-f])') then
    document := json_without_odd_characters(document);
  end if;
  nodes := array[document::json];
  foreach step in array path loop
    if step = '[]' then
      nodes := array(
        select element from unnest(nodes) node,
          json_array_elements(case json_typeof(node) when 'array' then node else '[]' end) element);
    elsif left(step, 1) = '[' then
      nodes := array(
        select node -> substr(step, 2, length(step) - 2)::int from unnest(nodes) node
        where json_typeof(node) = 'array' and node -> substr(step, 2, length(step) - 2)::int is not null);
    else
      nodes := array(
        select node -> substr(step, 2) from unnest(nodes) node
        where json_typeof(node) = 'object' and node -> substr(step, 2) is not null);
    end if;
  end loop;
  return nodes;
exception
  -- Nested deeper than this server's stack: found by no path, and no harm to the query.
  when statement_too_complex then return '{}';
end $$;

-- The scalars at a path, spelled as JSON spells them, strings without quotes.
create function values_at_path(document text, path text[]) returns text[]
language sql immutable strict as $$
  select coalesce(array_agg(coalesce(node #>> '{}', 'null')), '{}')
  from unnest(nodes_at_path(document, path)) node
  where json_typeof(node) not in ('object', 'array')
$$;

create function exists_at_path(document text, path text[]) returns bool
language sql immutable strict as $$
  select cardinality(nodes_at_path(document, path)) > 0
$$;
