// The public WebSub topics of a tenant and their subscriptions.
import type { Endpoint, Tenant } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useSubmission } from "../../api/problems.ts";
import { useTenantChange } from "../../api/tenants.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { linesOf } from "../../format/endpoint-form.ts";
import type { Column } from "../list/data-table.tsx";
import { ListView } from "../list/list.tsx";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { TextArea } from "../ui/field.tsx";
import { Panel } from "../ui/panel.tsx";
import { NothingYet } from "../ui/states.tsx";
import { Ago } from "../ui/time.tsx";
import { showToast } from "../ui/toasts.tsx";

const texts = defineTexts({
  en: {
    title: "WebSub",
    warning:
      "Public topics need no key: anyone who knows the URL can read their events and subscribe. Publish only data that is not confidential.",
    topics: "Public topics",
    topicsHint:
      "One per line: an exact type, a prefix such as order.*, or * for all. Empty makes no topic public.",
    where: "Topic URL, if the hub is enabled",
    type: "type",
    feed: "Append ?format=atom for an Atom feed.",
    ends: "Removing a topic ends its subscriptions immediately.",
    save: "Save",
    opened: "Saved. These topics are public.",
    closed: "Saved. No topic is public.",
    subscriptions: "WebSub subscriptions",
    topic: "Topic",
    callback: "Callback URL",
    lease: "Expires",
    nothing: "No subscriptions",
    end: "End",
    endTitle: "End this subscription?",
    endHint: "The subscriber is notified and receives no further events.",
    ended: "Subscription ended.",
  },
  de: {
    title: "WebSub",
    warning:
      "Öffentliche Topics brauchen keinen Schlüssel: Wer die URL kennt, kann ihre Ereignisse lesen und abonnieren. Veröffentlichen Sie nur nicht vertrauliche Daten.",
    topics: "Öffentliche Topics",
    topicsHint:
      "Eines pro Zeile: ein exakter Typ, ein Präfix wie order.* oder * für alle. Leer: kein Topic ist öffentlich.",
    where: "Topic-URL, falls der Hub aktiviert ist",
    type: "Typ",
    feed: "Mit ?format=atom erhalten Sie einen Atom-Feed.",
    ends: "Das Entfernen eines Topics beendet seine Abonnements sofort.",
    save: "Speichern",
    opened: "Gespeichert. Diese Topics sind öffentlich.",
    closed: "Gespeichert. Kein Topic ist öffentlich.",
    subscriptions: "WebSub-Abonnements",
    topic: "Topic",
    callback: "Callback-URL",
    lease: "Läuft ab",
    nothing: "Keine Abonnements",
    end: "Beenden",
    endTitle: "Dieses Abonnement beenden?",
    endHint: "Der Abonnent wird benachrichtigt und erhält keine weiteren Ereignisse.",
    ended: "Abonnement beendet.",
  },
});

export function TenantWebSub({ tenant }: { readonly tenant: Tenant }) {
  return (
    <>
      <Topics key={tenant.websub_topics.join()} tenant={tenant} />
      <Subscriptions tenant={tenant} />
    </>
  );
}

function Topics({ tenant }: { readonly tenant: Tenant }) {
  const t = useTexts(texts);
  const change = useTenantChange();
  const [text, setText] = useState(tenant.websub_topics.join("\n"));
  const { isBusy, problems, submit } = useSubmission();
  const save = async (event: FormEvent) => {
    event.preventDefault();
    const topics = linesOf(text);
    const said = topics.length === 0 ? t.closed : t.opened;
    await submit(() => change(tenant, { websub_topics: topics }, said));
  };
  const address = new URL(`websub/topics/${encodeURIComponent(tenant.id)}/`, document.baseURI).href;
  return (
    <Panel title={t.title}>
      <form onSubmit={(event) => void save(event)} className="flex flex-col gap-3">
        <p className="rounded-md bg-warn-ground p-3 text-warn">{t.warning}</p>
        <TextArea
          label={t.topics}
          hint={t.topicsHint}
          rows={3}
          value={text}
          problem={problems.at("/websub_topics")}
          onChange={(event) => setText(event.target.value)}
        />
        <p className="text-xs break-words text-muted">
          {t.where}:{" "}
          <code className="font-mono break-all">
            {address}
            {`{${t.type}}`}
          </code>
          . {t.feed} {t.ends}
        </p>
        <div>
          <Button type="submit" isBusy={isBusy}>
            {t.save}
          </Button>
        </div>
      </form>
    </Panel>
  );
}

const REFRESH_MS = 10_000;

function Subscriptions({ tenant: { id: tenant, websub_topics } }: { readonly tenant: Tenant }) {
  const t = useTexts(texts);
  const queries = useQueryClient();
  const [ending, setEnding] = useState<Endpoint | null>(null);
  const list = useList(
    ["endpoints", { tenant, state: "websub" }],
    (page, signal) => api.endpoints.listAll({ query: { tenant, state: "websub", ...page }, signal }),
    { watch: { keyOf: ({ id }) => id, everyMs: REFRESH_MS } },
  );
  const end = async ({ id }: Endpoint) => {
    await api.endpoints.delete({ tenant, endpoint: id });
    showToast(t.ended);
    await queries.invalidateQueries({ queryKey: ["endpoints"] });
  };
  const leaseOf = ({ websub }: Endpoint) => (websub === null ? "–" : <Ago at={websub.lease_ends_at} />);
  const columns: readonly Column<Endpoint>[] = [
    {
      key: "topic",
      head: t.topic,
      cell: ({ id, websub }) => (
        <Link
          to="/tenants/$tenant/endpoints/$id"
          params={{ tenant, id }}
          className="font-mono text-xs underline-offset-2 hover:underline"
        >
          {websub?.topic}
        </Link>
      ),
      below: (endpoint) => (
        <>
          <span className="sm:hidden">
            {leaseOf(endpoint)}
            {" · "}
          </span>
          {endpoint.url}
        </>
      ),
    },
    {
      key: "callback",
      head: t.callback,
      from: "lg",
      cell: ({ url }) => <span className="font-mono text-xs">{url}</span>,
    },
    { key: "lease", head: t.lease, from: "sm", cell: leaseOf },
    {
      key: "end",
      head: "",
      cell: (endpoint) => (
        <span className="flex justify-end">
          <Button kind="quiet" onClick={() => setEnding(endpoint)}>
            {t.end}
          </Button>
        </span>
      ),
    },
  ];
  // hidden while there are neither topics nor subscriptions
  if (websub_topics.length === 0 && list.rows.length === 0) return null;
  return (
    <Panel title={t.subscriptions} isFlush>
      <ListView
        label={t.subscriptions}
        list={list}
        columns={columns}
        keyOf={({ id }) => id}
        nothingYet={<NothingYet title={t.nothing} />}
      />
      {ending !== null && (
        <Confirm
          title={t.endTitle}
          action={t.end}
          onConfirm={() => end(ending)}
          onClose={() => setEnding(null)}
        >
          <p>{t.endHint}</p>
        </Confirm>
      )}
    </Panel>
  );
}
