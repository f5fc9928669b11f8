-- Ids of tenants that were deleted. Their events, deliveries, idempotency keys and audit entries stay, so whoever got
-- the id next would find somebody else's: it is taken until the tenant itself is brought back.

create table posthorn.deleted_tenants (
  tenant text primary key,
  deleted_at timestamptz not null default posthorn.now()
);

-- those that are known to have been deleted before
insert into posthorn.deleted_tenants (tenant)
select distinct a.tenant
from posthorn.audit_log a
where a.action = 'tenants.delete'
  and a.status = 200
  and a.tenant is not null
  and not exists (select from posthorn.tenants t where t.id = a.tenant);
