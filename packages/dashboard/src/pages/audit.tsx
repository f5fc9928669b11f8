// The audit log.
import type { AuditEntry } from "@posthorn/client";
import { useState } from "react";
import { useList } from "../api/list.ts";
import { useQueryFilters } from "../app/filters.ts";
import { defineTexts, type Text } from "../app/texts.ts";
import { ExportButton } from "../components/list/export-button.tsx";
import { ListPage } from "../components/list/list-page.tsx";
import { Badge } from "../components/ui/badge.tsx";
import { Dialog } from "../components/ui/dialog.tsx";
import { JsonView } from "../components/ui/json-view.tsx";
import { Ago } from "../components/ui/time.tsx";

const t = defineTexts({
  actor: ["Actor", "Akteur"],
  status: "Status",
  at: ["Time", "Zeit"],
  nothing: ["No entries yet", "Noch keine Einträge"],
  kinds: {
    admin: ["admin key", "Admin-Schlüssel"],
    key: ["key", "Schlüssel"],
    member: ["member", "Mitglied"],
    operator: ["operator", "Betreiber"],
    portal: ["portal link", "Portal-Link"],
    library: ["library", "Bibliothek"],
    system: ["consequence of another change", "Folge einer anderen Änderung"],
  } as Readonly<Record<string, Text>>,
});

export function Audit() {
  const filters = useQueryFilters();
  const [open, setOpen] = useState<AuditEntry | null>(null);
  const list = useList("auditLog.list", { query: filters });
  return (
    <ListPage
      title={t.auditLog}
      actions={<ExportButton of={["auditLog"]} filters={filters} />}
      filterBy={["tenant", "action", "created"]}
      list={list}
      columns={[
        {
          key: "action",
          head: t.action,
          share: 3,
          cell: ({ action }) => <code className="font-mono text-xs">{action}</code>,
        },
        {
          key: "actor",
          head: t.actor,
          from: "sm",
          share: 2,
          cell: ({ actor }) => `${t.kinds[actor.kind] ?? actor.kind} ${actor.user ?? actor.id ?? ""}`,
        },
        { key: "tenant", head: t.tenant, from: "md", share: 2, cell: ({ tenant }) => tenant ?? t.all },
        {
          key: "status",
          head: t.status,
          cell: ({ status }) => (
            <Badge tone={status === null ? "warn" : status < 400 ? "ok" : "bad"}>{status ?? t.unknown}</Badge>
          ),
        },
        { key: "at", head: t.at, cell: ({ at }) => <Ago at={at} /> },
      ]}
      onOpen={setOpen}
      nothing={t.nothing}
    >
      <Dialog title={open?.action ?? ""} isOpen={open !== null} onClose={() => setOpen(null)}>
        {open !== null && <JsonView value={open} label={open.action} />}
      </Dialog>
    </ListPage>
  );
}
