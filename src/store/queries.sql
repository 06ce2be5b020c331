-- Written by hack/print-sql.ts. $1, $2 … are bound values.

-- list: everything, from a key on
select o.* from unnest(
    $1::int4[],
    $2::text[],
    $3::text[],
    $4::text[]
  ) as s (cluster_id, namespace, name, last_namespace)
  cross join lateral (
    select o.cluster_id, o.api_version, o.columns_id, o.namespace, o.name, o."cells", o."metadata" from object o where o.cluster_id = s.cluster_id and o.type_id = $5 and (o.namespace, o.name) > (s.namespace, s.name) and o.namespace <= s.last_namespace
    order by o.namespace, o.name limit $6::int8
  ) o
  where (select c.removed_at is null from cluster c where c.id = s.cluster_id) limit $7::int8;

-- list: in one namespace
select o.* from unnest(
    $1::int4[],
    $2::text[],
    $3::text[],
    $4::text[]
  ) as s (cluster_id, namespace, name, last_namespace)
  cross join lateral (
    select o.cluster_id, o.api_version, o.columns_id, o.namespace, o.name, o."cells", o."metadata" from object o where o.cluster_id = s.cluster_id and o.type_id = $5 and (o.namespace, o.name) > (s.namespace, s.name) and o.namespace <= s.last_namespace and o.namespace = any ($6::text[])
    order by o.namespace, o.name limit $7::int8
  ) o
  where (select c.removed_at is null from cluster c where c.id = s.cluster_id) limit $8::int8;

-- list: by label
select k.cluster_id, w.api_version, w.columns_id, k.namespace, k.name, w."cells", w."metadata" from (
    select o.cluster_id, o.namespace, o.name from object o
    where (o.cluster_id = any ($1::int4[]) or (o.cluster_id = any ($2::int4[]) and o.namespace = any ($3::text[]))) and array_position(
    array(select c.id from cluster c where c.id = any ($4::int4[]) and c.removed_at is null), o.cluster_id) is not null and o.tokens && $5::int8[] and not o.tokens && $6::int8[] order by array_position($7::int4[], o.cluster_id), o.namespace, o.name limit $8::int8
  ) k cross join lateral (
    select * from object f where f.cluster_id = k.cluster_id
    and f.type_id = $9 and f.namespace = k.namespace and f.name = k.name offset 0
  ) w;

-- list: by a field of the status
select k.cluster_id, w.api_version, w.columns_id, k.namespace, k.name, w."cells", w."metadata" from (
    select o.cluster_id, o.namespace, o.name from object_status o
    where (o.cluster_id = any ($1::int4[]) or (o.cluster_id = any ($2::int4[]) and o.namespace = any ($3::text[]))) and array_position(
    array(select c.id from cluster c where c.id = any ($4::int4[]) and c.removed_at is null), o.cluster_id) is not null and o.tokens && $5::int8[] order by array_position($6::int4[], o.cluster_id), o.namespace, o.name limit $7::int8
  ) k cross join lateral (
    select * from object f where f.cluster_id = k.cluster_id
    and f.type_id = $8 and f.namespace = k.namespace and f.name = k.name offset 0
  ) w;

-- list: by a field of the spec
select k.cluster_id, w.api_version, w.columns_id, k.namespace, k.name, w."cells", w."metadata" from (
    select o.cluster_id, o.namespace, o.name from object o
    where (o.cluster_id = any ($1::int4[]) or (o.cluster_id = any ($2::int4[]) and o.namespace = any ($3::text[]))) and array_position(
    array(select c.id from cluster c where c.id = any ($4::int4[]) and c.removed_at is null), o.cluster_id) is not null and o.tokens && $5::int8[] order by array_position($6::int4[], o.cluster_id), o.namespace, o.name limit $7::int8
  ) k cross join lateral (
    select * from object f where f.cluster_id = k.cluster_id
    and f.type_id = $8 and f.namespace = k.namespace and f.name = k.name offset 0
  ) w;

-- list: by a field that is not so
select o.* from unnest(
    $1::int4[],
    $2::text[],
    $3::text[],
    $4::text[]
  ) as s (cluster_id, namespace, name, last_namespace)
  cross join lateral (
    select o.cluster_id, o.api_version, o.columns_id, o.namespace, o.name, o."cells", o."metadata" from object o where o.cluster_id = s.cluster_id and o.type_id = $5 and (o.namespace, o.name) > (s.namespace, s.name) and o.namespace <= s.last_namespace and not exists (select from object_status s
    where s.cluster_id = o.cluster_id and s.type_id = o.type_id and s.namespace = o.namespace
    and s.name = o.name and s.tokens && $6::int8[])
    order by o.namespace, o.name limit $7::int8
  ) o
  where (select c.removed_at is null from cluster c where c.id = s.cluster_id) limit $8::int8;

-- list: by name
select k.cluster_id, w.api_version, w.columns_id, k.namespace, k.name, w."cells", w."metadata" from (
    select o.cluster_id, o.namespace, o.name from object o
    where o.type_id = $1 and (o.cluster_id = any ($2::int4[]) or (o.cluster_id = any ($3::int4[]) and o.namespace = any ($4::text[]))) and array_position(
    array(select c.id from cluster c where c.id = any ($5::int4[]) and c.removed_at is null), o.cluster_id) is not null and o.namespace = any ($6::text[]) and o.name = any ($7::text[]) order by array_position($8::int4[], o.cluster_id), o.namespace, o.name limit $9::int8
  ) k cross join lateral (
    select * from object f where f.cluster_id = k.cluster_id
    and f.type_id = $10 and f.namespace = k.namespace and f.name = k.name offset 0
  ) w;

-- list: by a part of the name
select k.cluster_id, w.api_version, w.columns_id, k.namespace, k.name, w."cells", w."metadata" from (
    select o.cluster_id, o.namespace, o.name from object o
    where o.type_id = $1 and (o.cluster_id = any ($2::int4[]) or (o.cluster_id = any ($3::int4[]) and o.namespace = any ($4::text[]))) and array_position(
    array(select c.id from cluster c where c.id = any ($5::int4[]) and c.removed_at is null), o.cluster_id) is not null and ((o.name || '') like $6) order by array_position($7::int4[], o.cluster_id), o.namespace, o.name limit $8::int8
  ) k cross join lateral (
    select * from object f where f.cluster_id = k.cluster_id
    and f.type_id = $9 and f.namespace = k.namespace and f.name = k.name offset 0
  ) w;

-- list: by one of many names
select k.cluster_id, w.api_version, w.columns_id, k.namespace, k.name, w."cells", w."metadata" from (
    select o.cluster_id, o.namespace, o.name from object o
    where o.type_id = $1 and (o.cluster_id = any ($2::int4[]) or (o.cluster_id = any ($3::int4[]) and o.namespace = any ($4::text[]))) and array_position(
    array(select c.id from cluster c where c.id = any ($5::int4[]) and c.removed_at is null), o.cluster_id) is not null and (o.name in (select unnest($6::text[]))) is true order by array_position($7::int4[], o.cluster_id), o.namespace, o.name limit $8::int8
  ) k cross join lateral (
    select * from object f where f.cluster_id = k.cluster_id
    and f.type_id = $9 and f.namespace = k.namespace and f.name = k.name offset 0
  ) w;

-- list: by words
select k.cluster_id, w.api_version, w.columns_id, k.namespace, k.name, w."cells", w."metadata" from (
    select o.cluster_id, o.namespace, o.name from object o
    where (o.cluster_id = any ($1::int4[]) or (o.cluster_id = any ($2::int4[]) and o.namespace = any ($3::text[]))) and array_position(
    array(select c.id from cluster c where c.id = any ($4::int4[]) and c.removed_at is null), o.cluster_id) is not null and (o.tokens && $5::int8[] and o.tokens && $6::int8[]) order by array_position($7::int4[], o.cluster_id), o.namespace, o.name limit $8::int8
  ) k cross join lateral (
    select * from object f where f.cluster_id = k.cluster_id
    and f.type_id = $9 and f.namespace = k.namespace and f.name = k.name offset 0
  ) w;

-- list: by a field that is more
select o.* from unnest(
    $1::int4[],
    $2::text[],
    $3::text[],
    $4::text[]
  ) as s (cluster_id, namespace, name, last_namespace)
  cross join lateral (
    select o.cluster_id, o.api_version, o.columns_id, o.namespace, o.name, o."cells", o."metadata" from object o where o.cluster_id = s.cluster_id and o.type_id = $5 and (o.namespace, o.name) > (s.namespace, s.name) and o.namespace <= s.last_namespace and exists (select from unnest(nodes_at_path((o.head || 'null' || o.tail), $6::text[])) node
    where number_in(node #>> '{}') > number_in($7::text))
    order by o.namespace, o.name limit $8::int8
  ) o
  where (select c.removed_at is null from cluster c where c.id = s.cluster_id) limit $9::int8;

-- list: by the time of creation
select k.cluster_id, w.api_version, w.columns_id, k.namespace, k.name, w."cells", w."metadata" from (
    select o.cluster_id, o.namespace, o.name from object o
    where o.type_id = $1 and (o.cluster_id = any ($2::int4[]) or (o.cluster_id = any ($3::int4[]) and o.namespace = any ($4::text[]))) and array_position(
    array(select c.id from cluster c where c.id = any ($5::int4[]) and c.removed_at is null), o.cluster_id) is not null and (o.created_at >= $6::timestamptz) order by array_position($7::int4[], o.cluster_id), o.namespace, o.name limit $8::int8
  ) k cross join lateral (
    select * from object f where f.cluster_id = k.cluster_id
    and f.type_id = $9 and f.namespace = k.namespace and f.name = k.name offset 0
  ) w;

-- list: by owner
select k.cluster_id, w.api_version, w.columns_id, k.namespace, k.name, w."cells", w."metadata" from (
    select o.cluster_id, o.namespace, o.name from object o
    where o.type_id = $1 and (o.cluster_id = any ($2::int4[]) or (o.cluster_id = any ($3::int4[]) and o.namespace = any ($4::text[]))) and array_position(
    array(select c.id from cluster c where c.id = any ($5::int4[]) and c.removed_at is null), o.cluster_id) is not null and (o.tokens && $6::int8[] and exists (select from unnest(o.tokens) t
    where (o.cluster_id, o.namespace, t) in (select * from unnest(
    $7::int4[],
    $8::text[],
    $9::int8[])) or (o.cluster_id, '', t) in (select * from unnest(
    $10::int4[],
    $11::text[],
    $12::int8[])))) order by array_position($13::int4[], o.cluster_id), o.namespace, o.name limit $14::int8
  ) k cross join lateral (
    select * from object f where f.cluster_id = k.cluster_id
    and f.type_id = $15 and f.namespace = k.namespace and f.name = k.name offset 0
  ) w;

-- list: newest first
select k.cluster_id, w.api_version, w.columns_id, k.namespace, k.name, k."v0", w."cells", w."metadata" from (
    select o.cluster_id, o.namespace, o.name, (extract(epoch from o.created_at) * 1000000)::int8 as "v0" from object o
    where o.type_id = $1 and (o.cluster_id = any ($2::int4[]) or (o.cluster_id = any ($3::int4[]) and o.namespace = any ($4::text[]))) and array_position(
    array(select c.id from cluster c where c.id = any ($5::int4[]) and c.removed_at is null), o.cluster_id) is not null order by o.created_at desc nulls last, array_position($6::int4[], o.cluster_id), o.namespace, o.name limit $7::int8
  ) k cross join lateral (
    select * from object f where f.cluster_id = k.cluster_id
    and f.type_id = $8 and f.namespace = k.namespace and f.name = k.name offset 0
  ) w;

-- list: oldest first
select k.cluster_id, w.api_version, w.columns_id, k.namespace, k.name, k."v0", w."cells", w."metadata" from (
    select * from (
    (select o.cluster_id, o.namespace, o.name, (extract(epoch from o.created_at) * 1000000)::int8 as "v0" from object o
    where o.type_id = $1 and (o.cluster_id = any ($2::int4[]) or (o.cluster_id = any ($3::int4[]) and o.namespace = any ($4::text[]))) and array_position(
    array(select c.id from cluster c where c.id = any ($5::int4[]) and c.removed_at is null), o.cluster_id) is not null and o.created_at is not null order by o.created_at nulls first, array_position($6::int4[], o.cluster_id), o.namespace, o.name limit $7::int8) union all
    (select o.cluster_id, o.namespace, o.name, (extract(epoch from o.created_at) * 1000000)::int8 as "v0" from object o
    where o.type_id = $8 and (o.cluster_id = any ($9::int4[]) or (o.cluster_id = any ($10::int4[]) and o.namespace = any ($11::text[]))) and array_position(
    array(select c.id from cluster c where c.id = any ($12::int4[]) and c.removed_at is null), o.cluster_id) is not null and o.created_at is null order by o.created_at nulls last, array_position($13::int4[], o.cluster_id), o.namespace, o.name limit $14::int8)
  ) u limit $15::int8
  ) k cross join lateral (
    select * from object f where f.cluster_id = k.cluster_id
    and f.type_id = $16 and f.namespace = k.namespace and f.name = k.name offset 0
  ) w;

-- list: in the order of a field
select k.cluster_id, w.api_version, w.columns_id, k.namespace, k.name, k."v0", w."cells", w."metadata" from (
    select o.cluster_id, o.namespace, o.name, "f0".value as "v0" from object o cross join lateral
      (select (values_at_path((o.head || 'null' || o.tail), $1::text[]))[1] collate "C" as value offset 0) "f0"
    where o.type_id = $2 and (o.cluster_id = any ($3::int4[]) or (o.cluster_id = any ($4::int4[]) and o.namespace = any ($5::text[]))) and array_position(
    array(select c.id from cluster c where c.id = any ($6::int4[]) and c.removed_at is null), o.cluster_id) is not null order by case when "f0".value ~ '^-?[0-9]{1,60}([.][0-9]{1,60})?([eE][+-]?[0-9]{1,2})?$' then ("f0".value)::numeric end desc nulls last, "f0".value desc nulls last, array_position($7::int4[], o.cluster_id), o.namespace, o.name limit $8::int8
  ) k cross join lateral (
    select * from object f where f.cluster_id = k.cluster_id
    and f.type_id = $9 and f.namespace = k.namespace and f.name = k.name offset 0
  ) w;

-- count
select count(*) from object o where (o.cluster_id = any ($1::int4[]) or (o.cluster_id = any ($2::int4[]) and o.namespace = any ($3::text[]))) and array_position(
    array(select c.id from cluster c where c.id = any ($4::int4[]) and c.removed_at is null), o.cluster_id) is not null and o.tokens && $5::int8[];

-- count: by groups
select o.cluster_id::text collate "C" as "g0", "j1".v collate "C" as "g1",  count(*) as count from object o
     left join lateral
    (select distinct v from unnest(values_at_path((o.head || 'null' || o.tail), $1::text[])) v) "j1" on true where o.type_id = $2 and (o.cluster_id = any ($3::int4[]) or (o.cluster_id = any ($4::int4[]) and o.namespace = any ($5::text[]))) and array_position(
    array(select c.id from cluster c where c.id = any ($6::int4[]) and c.removed_at is null), o.cluster_id) is not null
    group by 1, 2 order by count desc, 1, 2 limit 10001;

-- collection
select k.cluster_id, w.api_version, w.columns_id, k.namespace, k.name
    , k."v0", w."cells", w."metadata" from (
      select o.cluster_id, o.type_id, o.namespace, o.name , o.type_id as "v0" from object o
      where ((o.type_id = any ($1::int4[]) and (o.cluster_id = any ($2::int4[]) or (o.cluster_id = any ($3::int4[]) and o.namespace = any ($4::text[]))) and array_position(
    array(select c.id from cluster c where c.id = any ($5::int4[]) and c.removed_at is null), o.cluster_id) is not null)) order by array_position($6::int4[], o.cluster_id), o.namespace, o.name, o.type_id limit $7::int8
    ) k cross join lateral (
      select * from object f where f.cluster_id = k.cluster_id and f.type_id = k.type_id
      and f.namespace = k.namespace and f.name = k.name offset 0
    ) w;

-- hint: fields that no object seems to have
select (select count(*) from (select o.* from unnest(
    $1::int4[],
    $2::int4[],
    $3::text[],
    $4::text[]
  ) as s (cluster_id, type_id, first_namespace, last_namespace)
  cross join lateral (
    select o.head, o.metadata, o.tail from object o
    where o.cluster_id = s.cluster_id and o.type_id = s.type_id
    and o.namespace >= s.first_namespace and o.namespace <= s.last_namespace
    and pg_column_size(o.tail) <= 32768 limit 100
  ) o
  where (select c.removed_at is null from cluster c where c.id = s.cluster_id)) o) as looked, not exists (select from (select o.* from unnest(
    $5::int4[],
    $6::int4[],
    $7::text[],
    $8::text[]
  ) as s (cluster_id, type_id, first_namespace, last_namespace)
  cross join lateral (
    select o.head, o.metadata, o.tail from object o
    where o.cluster_id = s.cluster_id and o.type_id = s.type_id
    and o.namespace >= s.first_namespace and o.namespace <= s.last_namespace
    and pg_column_size(o.tail) <= 32768 limit 100
  ) o
  where (select c.removed_at is null from cluster c where c.id = s.cluster_id)) o where (cardinality(nodes_at_path((o.head || 'null' || o.tail), $9::text[])) > 0)) as "a0";

-- write: a batch of changes
with incoming as materialized (
  select i.*, o.row_id, o.uid as old_uid, o.resource_version as old_resource_version,
    case i.op when 'D' then o.uid is not null
      else o.uid is null or (o.uid, o.resource_version, o.api_version, o.columns_id)
        is distinct from (i.uid, i.resource_version, i.api_version, $4) end as differs
  from unnest($1::object_change[]) i
  left join lateral (
    select o.ctid as row_id, o.uid, o.resource_version, o.api_version, o.columns_id from object o
    where o.cluster_id = $2 and o.type_id = $3 and o.namespace = i.namespace and o.name = i.name
    offset 0
  ) o on true
), put as (
  insert into object (cluster_id, type_id, namespace, name, uid, resource_version, api_version,
    created_at, columns_id, rv_offset, tokens, cells, head, metadata, tail)
  select $2, $3, namespace, name, uid, resource_version, api_version,
    created_at, $4, rv_offset, tokens, cells, head, metadata, tail
  from incoming where op = 'P' and differs
  on conflict (cluster_id, type_id, namespace, name) do update set
    uid = excluded.uid, resource_version = excluded.resource_version,
    api_version = excluded.api_version, created_at = excluded.created_at,
    columns_id = excluded.columns_id, rv_offset = excluded.rv_offset, tokens = excluded.tokens,
    cells = excluded.cells, head = excluded.head, metadata = excluded.metadata,
    tail = excluded.tail
), status_put as (
  insert into object_status as s (cluster_id, type_id, namespace, name, tokens)
  select $2, $3, namespace, name, status_tokens
  from incoming where op = 'P' and differs and cardinality(status_tokens) > 0
  on conflict (cluster_id, type_id, namespace, name) do update set tokens = excluded.tokens
  where s.tokens is distinct from excluded.tokens
), gone as (
  delete from object o where o.cluster_id = $2
   and o.ctid = any (array(select row_id from incoming where op = 'D' and differs))
), status_gone as (
  delete from object_status s where s.cluster_id = $2 and s.ctid = any (array(
    select s.row_id from incoming i cross join lateral (
      select s.ctid as row_id from object_status s
      where s.cluster_id = $2 and s.type_id = $3 and s.namespace = i.namespace and s.name = i.name
      offset 0
    ) s
    where i.differs and i.old_uid is not null and (i.op = 'D' or cardinality(i.status_tokens) = 0)))
), entry as (
  select namespace, name, 'D' as op, old_uid as uid, old_resource_version as resource_version
  from incoming where differs and old_uid is not null and (op = 'D' or old_uid <> uid)
  union all
  select namespace, name, case when old_uid = uid then 'M' else 'A' end, uid, resource_version
  from incoming where differs and op = 'P'
), logged as (
  insert into change (cluster_id, seq, type_id, op, namespace, name, uid, resource_version)
  select $2, $5 + row_number() over (order by namespace, name, op desc), $3, op::"char",
    namespace, name, uid, resource_version
  from entry
  returning op
)
select count(*) filter (where op = 'A')::int as added,
  count(*) filter (where op = 'M')::int as modified,
  count(*) filter (where op = 'D')::int as deleted,
  (select count(*) from incoming where not differs)::int as unchanged
from logged;

-- write: the log of a batch
with counted as (
  update cluster_lease set last_seq = $2 where cluster_id = $1
), batch as (
  insert into change_batch (cluster_id, last_seq, first_seq) values ($1, $2, $3)
)
select pg_notify('fleetglass_change', '');

-- write: a type of a cluster
insert into cluster_resource as r (cluster_id, type_id, kind, list_kind, singular_name, short_names,
  categories, namespaced, api_version, served_versions, columns_id, covers)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
on conflict (cluster_id, type_id) do update set
  kind = excluded.kind, list_kind = excluded.list_kind, singular_name = excluded.singular_name,
  short_names = excluded.short_names, categories = excluded.categories,
  namespaced = excluded.namespaced, api_version = excluded.api_version,
  served_versions = excluded.served_versions, covers = excluded.covers,
  columns_id = coalesce(excluded.columns_id, r.columns_id),
  remake = r.remake
    or r.columns_id is distinct from coalesce(excluded.columns_id, r.columns_id),
  resource_version = case
    when (r.api_version, r.covers) = (excluded.api_version, excluded.covers)
    then r.resource_version end
where (r.kind, r.list_kind, r.singular_name, r.short_names, r.categories, r.namespaced,
       r.api_version, r.served_versions, r.columns_id, r.covers)
  is distinct from
      (excluded.kind, excluded.list_kind, excluded.singular_name, excluded.short_names,
       excluded.categories, excluded.namespaced, excluded.api_version, excluded.served_versions,
       coalesce(excluded.columns_id, r.columns_id), excluded.covers)
returning set_config('synchronous_commit', 'on', true);

-- write: the state of a cluster
update cluster c set stale_reason = n.stale_reason, version = n.version, stale_since = n.stale_since
from (
  select id, $2::text as stale_reason, coalesce($3, version) as version,
    case when $5 then $4::timestamptz else stale_since end as stale_since
  from cluster where id = $1
) n
where c.id = n.id and (c.stale_reason, c.version, c.stale_since)
  is distinct from (n.stale_reason, n.version, n.stale_since)
returning set_config('synchronous_commit', 'on', true);

-- write: revisions of batches
with revision as (
  select latest from fleet_revision for update
), batch as materialized (
  select cluster_id, last_seq, last_seq - first_seq + 1 as changes
  from change_batch where last_revision is null
  order by cluster_id, last_seq limit $1
), numbered as materialized (
  select cluster_id, last_seq,
    (select latest from revision) + sum(changes) over (order by cluster_id, last_seq) as revision
  from batch
), stamped as (
  update change_batch b set last_revision = n.revision
  from numbered n where b.cluster_id = n.cluster_id and b.last_seq = n.last_seq
  returning b.last_revision
), moved as (
  update fleet_revision set latest = (select max(last_revision) from stamped)
  where exists (select from stamped)
)
select count(*)::int as stamped from stamped;

-- remake: rows of other columns
select namespace, name, head || metadata || tail as text from (
  select *, row_number() over w as nr, sum(octet_length(tail)) over w as bytes from (
    select namespace, name, head, metadata, tail from object
    where cluster_id = $1 and type_id = $2 and columns_id <> $3 and (namespace, name) > ($4, $5)
    order by namespace, name limit $6
  ) o window w as (order by namespace, name)
) o where nr = 1 or bytes <= $7 order by namespace, name;

-- remake: rows made again
with incoming as materialized (
  select i.* from unnest($1::object_change[]) i
  cross join lateral (
    select o.uid, o.resource_version, o.columns_id from object o
    where o.cluster_id = $2 and o.type_id = $3 and o.namespace = i.namespace and o.name = i.name
    offset 0
  ) o
  where (o.uid, o.resource_version) = (i.uid, i.resource_version) and o.columns_id <> $4
), put as (
  insert into object (cluster_id, type_id, namespace, name, uid, resource_version, api_version,
    created_at, columns_id, rv_offset, tokens, cells, head, metadata, tail)
  select $2, $3, namespace, name, uid, resource_version, api_version,
    created_at, $4, rv_offset, tokens, cells, head, metadata, tail
  from incoming
  on conflict (cluster_id, type_id, namespace, name) do update set
    created_at = excluded.created_at, columns_id = excluded.columns_id,
    rv_offset = excluded.rv_offset, tokens = excluded.tokens, cells = excluded.cells,
    head = excluded.head, metadata = excluded.metadata, tail = excluded.tail
), status_put as (
  insert into object_status as s (cluster_id, type_id, namespace, name, tokens)
  select $2, $3, namespace, name, status_tokens from incoming where cardinality(status_tokens) > 0
  on conflict (cluster_id, type_id, namespace, name) do update set tokens = excluded.tokens
  where s.tokens is distinct from excluded.tokens
), status_gone as (
  delete from object_status s using incoming i
  where s.cluster_id = $2 and s.type_id = $3 and s.namespace = i.namespace and s.name = i.name
    and cardinality(i.status_tokens) = 0
)
select count(*)::int as remade from incoming;
