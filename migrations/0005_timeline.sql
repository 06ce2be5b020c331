-- The PostgreSQL timeline on which revisions were given out last. A standby that is promoted begins
-- another one, and may lack the newest of them: they must not be given out again for something else.
alter table fleet_revision add column timeline text;
alter table registration_revision add column timeline text;
