-- Publishes from any language; the event is part of the transaction.
begin;
create table if not exists invoices (id text primary key);
insert into invoices values ('inv-1');
select posthorn.publish(tenant => 'acme', type => 'invoice.paid', data => '{"invoice":"inv-1"}', subject => 'inv-1');
commit;
