-- Stands where another change has its number.
select 1;
