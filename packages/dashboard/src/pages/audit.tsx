// The audit log.
import type { AuditEntry } from "@posthorn/client";
import { useState } from "react";
import { api } from "../api/client.ts";
import { useList } from "../api/list.ts";
import { useFilters } from "../app/filters.ts";
import { defineTexts, useTexts } from "../app/texts.ts";
import type { Column } from "../components/list/data-table.tsx";
import { ListPage } from "../components/list/list-page.tsx";
import { Badge } from "../components/ui/badge.tsx";
import { Dialog } from "../components/ui/dialog.tsx";
import { JsonView } from "../components/ui/json-view.tsx";
import { NothingYet } from "../components/ui/states.tsx";
import { Ago } from "../components/ui/time.tsx";

const texts = defineTexts({
  en: {
    title: "Audit log",
    action: "Action",
    actor: "Actor",
    tenant: "Tenant",
    status: "Status",
    at: "Time",
    nothing: "No entries yet",
    unknown: "unknown",
    installation: "all",
    kinds: { admin: "admin key", key: "key", member: "member", operator: "operator" } as Record<
      string,
      string
    >,
  },
  de: {
    title: "Audit-Log",
    action: "Aktion",
    actor: "Akteur",
    tenant: "Mandant",
    status: "Status",
    at: "Zeit",
    nothing: "Noch keine Einträge",
    unknown: "unbekannt",
    installation: "alle",
    kinds: {
      admin: "Admin-Schlüssel",
      key: "Schlüssel",
      member: "Mitglied",
      operator: "Betreiber",
    } as Record<string, string>,
  },
});

export function Audit() {
  const t = useTexts(texts);
  const { filters } = useFilters();
  const [open, setOpen] = useState<AuditEntry | null>(null);
  const list = useList(["audit", filters], (page, signal) =>
    api.auditLog.list({ query: { ...filters, ...page }, signal }),
  );
  const columns: readonly Column<AuditEntry>[] = [
    {
      key: "action",
      head: t.action,
      cell: ({ action }) => <code className="font-mono text-xs">{action}</code>,
    },
    {
      key: "actor",
      head: t.actor,
      from: "sm",
      cell: ({ actor }) => `${t.kinds[actor.kind] ?? actor.kind} ${actor.user ?? actor.id ?? ""}`,
    },
    { key: "tenant", head: t.tenant, from: "md", cell: ({ tenant }) => tenant ?? t.installation },
    {
      key: "status",
      head: t.status,
      cell: ({ status }) => (
        <Badge tone={status === null ? "warn" : status < 400 ? "ok" : "bad"}>{status ?? t.unknown}</Badge>
      ),
    },
    { key: "at", head: t.at, cell: ({ at }) => <Ago at={at} /> },
  ];
  return (
    <ListPage
      title={t.title}
      filterBy={["tenant", "action", "created_after", "created_before"]}
      list={list}
      columns={columns}
      keyOf={({ id }) => id}
      onOpen={setOpen}
      nothingYet={<NothingYet title={t.nothing} />}
    >
      <Dialog title={open?.action ?? ""} isOpen={open !== null} onClose={() => setOpen(null)}>
        {open !== null && <JsonView value={open} label={open.action} />}
      </Dialog>
    </ListPage>
  );
}
