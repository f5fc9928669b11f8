// The public WebSub topics of a tenant and their subscriptions.
import type { Endpoint, Tenant } from "@posthorn/client";
import { api } from "../../api/client.ts";
import { useList } from "../../api/list.ts";
import { useTenantChange } from "../../api/undo.ts";
import { defineTexts } from "../../app/texts.ts";
import { linesOf } from "../../format/endpoint-form.ts";
import { ListPanel } from "../list/list-page.tsx";
import { Button } from "../ui/button.tsx";
import { ConfirmButton } from "../ui/dialog.tsx";
import { submitted, TextArea, useForm } from "../ui/field.tsx";
import { Panel } from "../ui/page.tsx";
import { Ago } from "../ui/time.tsx";
import { showToast } from "../ui/toasts.tsx";

const t = defineTexts({
  title: "WebSub",
  warning: [
    "Public topics need no key: anyone who knows the URL can read their events and subscribe. Publish only data that is not confidential.",
    "Öffentliche Topics brauchen keinen Schlüssel: Wer die URL kennt, kann ihre Ereignisse lesen und abonnieren. Veröffentlichen Sie nur nicht vertrauliche Daten.",
  ],
  topics: ["Public topics", "Öffentliche Topics"],
  topicsHint: [
    "One per line: an exact type, a prefix such as order.*, or * for all. Empty makes no topic public.",
    "Eines pro Zeile: ein exakter Typ, ein Präfix wie order.* oder * für alle. Leer: kein Topic ist öffentlich.",
  ],
  where: ["Topic URL, if the hub is enabled", "Topic-URL, falls der Hub aktiviert ist"],
  type: ["type", "Typ"],
  feed: ["Append ?format=atom for an Atom feed.", "Mit ?format=atom erhalten Sie einen Atom-Feed."],
  ends: [
    "Removing a topic ends its subscriptions immediately.",
    "Das Entfernen eines Topics beendet seine Abonnements sofort.",
  ],
  opened: ["Saved. These topics are public.", "Gespeichert. Diese Topics sind öffentlich."],
  closed: ["Saved. No topic is public.", "Gespeichert. Kein Topic ist öffentlich."],
  topic: "Topic",
  callback: ["Callback URL", "Callback-URL"],
  nothing: ["No subscriptions", "Keine Abonnements"],
  end: ["End", "Beenden"],
  endHint: [
    "The subscriber is notified and receives no further events.",
    "Der Abonnent wird benachrichtigt und erhält keine weiteren Ereignisse.",
  ],
  ended: ["Subscription ended.", "Abonnement beendet."],
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
  const change = useTenantChange();
  const { form, field, isBusy, submit } = useForm({ websubTopics: tenant.websub_topics.join("\n") });
  const save = () => {
    const topics = linesOf(form.websubTopics);
    const message = topics.length === 0 ? t.closed : t.opened;
    return submit(() => change(tenant, { websub_topics: topics }, message));
  };
  const address = new URL(`websub/topics/${encodeURIComponent(tenant.id)}/`, document.baseURI).href;
  return (
    <Panel title={t.title}>
      <form onSubmit={submitted(save)} className="flex flex-col gap-3">
        <p className="rounded-md bg-warn-ground p-3 text-warn">{t.warning}</p>
        <TextArea label={t.topics} hint={t.topicsHint} rows={3} {...field("websubTopics")} />
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
  const list = useList(
    "endpoints.listAll",
    { query: { tenant, state: "websub" } },
    { watch: { everyMs: REFRESH_MS } },
  );
  const end = async ({ id }: Endpoint) => {
    await api.endpoints.delete({ tenant, endpoint: id });
    showToast(t.ended);
  };
  const leaseOf = ({ websub }: Endpoint) => (websub === null ? "–" : <Ago at={websub.lease_expires_at} />);
  // hidden while there are neither topics nor subscriptions
  if (websub_topics.length === 0 && list.rows.length === 0) return null;
  return (
    <ListPanel
      title={t.websubSubscriptions}
      list={list}
      columns={[
        {
          key: "topic",
          head: t.topic,
          share: 2,
          cell: ({ websub }) => <code>{websub?.topic}</code>,
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
          share: 2,
          cell: ({ url }) => <code>{url}</code>,
        },
        { key: "lease", head: t.expires, from: "sm", cell: leaseOf },
        {
          key: "end",
          head: "",
          cell: (endpoint) => (
            <span className="flex justify-end">
              <ConfirmButton
                kind="quiet"
                title={t.endSubscription}
                action={t.end}
                hint={t.endHint}
                onConfirm={() => end(endpoint)}
              />
            </span>
          ),
        },
      ]}
      linkTo={({ id }) => ({ to: "/tenants/$tenant/endpoints/$id", params: { tenant, id } })}
      nothing={t.nothing}
    />
  );
}
