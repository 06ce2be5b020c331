-- Reading stored JSON by path with two thirds of the work: 0001 and 0004 look through every document
-- for what PostgreSQL's JSON operators refuse before they read it. Here it is read first, and only
-- what they refuse is read in the old, careful way. Answers are the same to the letter.
alter function nodes_at_path(text, text[]) rename to nodes_at_odd_path;
alter function values_at_path(text, text[]) rename to values_at_odd_path;

create or replace function values_at_odd_path(document text, path text[]) returns text[]
language sql immutable strict as $$
  select coalesce(array_agg(coalesce(node #>> '{}', 'null')), '{}')
  from unnest(nodes_at_odd_path(document, path)) node
  where json_typeof(node) not in ('object', 'array')
$$;

-- As 0004 has it. `->` finds nothing in what is no object or no list; and a list of one element, which
-- most are, is gone into without a query.
create or replace function nodes_below(node json, path text[]) returns json[]
language plpgsql immutable strict parallel safe as $$
declare
  steps constant int := cardinality(path);
  step text;
begin
  for i in 1 .. steps loop
    step := path[i];
    if left(step, 1) = '.' then
      node := node -> substr(step, 2);
    elsif step <> '[]' then
      node := node -> substr(step, 2, length(step) - 2)::int;
    elsif json_typeof(node) <> 'array' then
      return '{}';
    elsif json_array_length(node) <= 1 then
      node := node -> 0;
    elsif i = steps then
      return array(select * from json_array_elements(node));
    else
      return array(select below from json_array_elements(node) element, unnest(nodes_below(element, path[i + 1:])) below);
    end if;
    if node is null then return '{}'; end if;
  end loop;
  return array[node];
end $$;

-- Not for parallel workers: a block with an exception is a subtransaction, which they refuse before
-- PostgreSQL 18. What is nested deeper than this server's stack is found by no path. A step with
-- U+E000 in it, by which odd characters are written, is for the functions named after it only.
create function nodes_at_path(document text, path text[]) returns json[]
language plpgsql immutable strict as $$
begin
  return nodes_below(document::json, path);
exception
  when untranslatable_character or invalid_text_representation then
    return nodes_at_odd_path(document, path);
  when statement_too_complex then return '{}';
end $$;

create function values_at_path(document text, path text[]) returns text[]
language plpgsql immutable strict as $$
declare
  nodes  json[];
  texts  text[];
begin
  nodes := nodes_below(document::json, path);
  if cardinality(nodes) = 0 then return '{}'; end if;
  if cardinality(nodes) > 1 then
    texts := array(select coalesce(node #>> '{}', 'null') from unnest(nodes) node
      where json_typeof(node) not in ('object', 'array'));
  elsif json_typeof(nodes[1]) in ('object', 'array') then
    return '{}';
  else
    texts := array[coalesce(nodes[1] #>> '{}', 'null')];
  end if;
  if strpos(array_to_string(texts, ''), U&'\E000') > 0 then
    return values_at_odd_path(document, path);
  end if;
  return texts;
exception
  when untranslatable_character or invalid_text_representation then
    return values_at_odd_path(document, path);
  when statement_too_complex then return '{}';
end $$;
