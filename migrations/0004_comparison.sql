-- Sizes of texts, for comparisons by `<` and `>`: kube/comparable.ts says what is a number and what a
-- time, and must agree with this to the letter. Null is what has no size. Not strict: so the planner
-- writes them out where they are used.
create function number_in(value text) returns numeric
language sql immutable parallel safe as $$
  select case
    when length(value) <= 400
      and value ~ '^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3}|[numkMGTPE]|[KMGTPE]i)?$'
    then rtrim(value, 'numkKMGTPEi')::numeric * case substring(value from '[a-zA-Z]+$')
      when 'n' then 0.000000001 when 'u' then 0.000001 when 'm' then 0.001
      when 'k' then 1e3 when 'M' then 1e6 when 'G' then 1e9 when 'T' then 1e12 when 'P' then 1e15 when 'E' then 1e18
      when 'Ki' then 1024 when 'Mi' then 1048576 when 'Gi' then 1073741824 when 'Ti' then 1099511627776
      when 'Pi' then 1125899906842624 when 'Ei' then 1152921504606846976
      else 1 end
  end
$$;

-- In UTC unless it says otherwise, to the microsecond. Immutable, because the zone is always said.
create function time_in(value text) returns timestamptz
language sql immutable parallel safe as $$
  select case
    when value ~ '^(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])([T ]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]([.][0-9]{1,100})?(Z|[+-](0[0-9]|1[0-4]):[0-5][0-9])?)?$'
      and substr(value, 9, 2)::int <= extract(day from
        make_date(substr(value, 1, 4)::int, substr(value, 6, 2)::int, 1) + interval '1 month' - interval '1 day')
    then (regexp_replace(value, '([.][0-9]{6})[0-9]+', '\1')
      || case when value ~ ':.*(Z|[+-][0-9:]+)$' then '' else 'Z' end)::timestamptz
  end
$$;

-- As 0001 has it, but steps into one node at a time without a query for each: three times as fast on
-- paths without lists. Of a key that occurs twice the last one counts, so `->` and not `#>`.
create function nodes_below(node json, path text[]) returns json[]
language plpgsql immutable strict parallel safe as $$
declare
  step text;
begin
  for i in 1 .. cardinality(path) loop
    step := path[i];
    if step = '[]' then
      if json_typeof(node) <> 'array' then return '{}'; end if;
      if i = cardinality(path) then return array(select * from json_array_elements(node)); end if;
      return array(select below from json_array_elements(node) element, unnest(nodes_below(element, path[i + 1:])) below);
    elsif left(step, 1) = '[' then
      if json_typeof(node) <> 'array' then return '{}'; end if;
      node := node -> substr(step, 2, length(step) - 2)::int;
    else
      if json_typeof(node) <> 'object' then return '{}'; end if;
      node := node -> substr(step, 2);
    end if;
    if node is null then return '{}'; end if;
  end loop;
  return array[node];
end $$;

-- Not for parallel workers: a block with an exception is a subtransaction, which they refuse before
-- PostgreSQL 18.
create or replace function nodes_at_path(document text, path text[]) returns json[]
language plpgsql immutable strict as $$
begin
  if strpos(document, U&'\E000') > 0
    or (strpos(document, '\u') > 0 and document ~* '\\u(0000|e000|d[89a-f])') then
    document := json_without_odd_characters(document);
  end if;
  return nodes_below(document::json, path);
exception
  -- Nested deeper than this server's stack: found by no path, and no harm to the query.
  when statement_too_complex then return '{}';
end $$;
