-- Holds the place of the migration that comes before 0010.
select 1;
