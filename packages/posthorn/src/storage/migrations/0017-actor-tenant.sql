-- Whose key or token acted; null: one of the whole installation, or written before this was kept. A tenant that reads its
-- entries does not see who of the operator's people it was, nor from where.
alter table posthorn.audit_log add column actor_tenant text;
