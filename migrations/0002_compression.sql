-- How wide columns are kept: lz4 where this server has it, and inline as long as a row fits a page.
do $$
declare
  method text := (select case when 'lz4' = any (enumvals) then 'lz4' else 'pglz' end
                  from pg_settings where name = 'default_toast_compression');
begin
  for i in 0..15 loop
    execute format('alter table object_%s alter column tail set compression %s', i, method);
    -- main: kept in the row while it fits, moved out when it does not (200 KB of annotations).
    execute format('alter table object_%s alter column tokens set storage main, alter column cells set storage main, alter column metadata set storage main, alter column head set storage main', i);
    execute format('alter table object_status_%s alter column tokens set storage main', i);
  end loop;
end $$;
