// Sends an editable test event and shows its outcome live.
import type { DeliveryDetail, Endpoint } from "@posthorn/client";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useSubmission } from "../../api/problems.ts";
import { useWatchedDelivery } from "../../api/watched-delivery.ts";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { explain, explanationKey } from "../../format/delivery-texts.ts";
import { writeJson } from "../../format/json-text.ts";
import { duration } from "../../format/time.ts";
import { StateBadge } from "../delivery/state-badge.tsx";
import { type Draft, EventDraft, eventOf } from "../event/event-draft.tsx";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { CodeView } from "../ui/json-view.tsx";
import { Panel } from "../ui/panel.tsx";
import { ProblemList } from "../ui/problem-list.tsx";

const texts = defineTexts({
  en: {
    title: "Test event",
    hint: "Sent only to this endpoint, regardless of its event types and filter, like any other delivery.",
    send: "Send test event",
    disabled: "The endpoint is disabled. Enable it first.",
    notJson: "The data is not valid JSON.",
    result: "Outcome",
    onItsWay: "Sending …",
    response: "Response",
    open: "Open delivery",
    greeting: "This is a test event.",
  },
  de: {
    title: "Testereignis",
    hint: "Wird unabhängig von Ereignistypen und Filter nur an diesen Endpunkt gesendet, wie jede andere Zustellung.",
    send: "Testereignis senden",
    disabled: "Der Endpunkt ist deaktiviert. Aktivieren Sie ihn zuerst.",
    notJson: "Die Daten sind kein gültiges JSON.",
    result: "Ergebnis",
    onItsWay: "Wird gesendet …",
    response: "Antwort",
    open: "Zustellung öffnen",
    greeting: "Das ist ein Testereignis.",
  },
});

export function TestEvent({ endpoint }: { readonly endpoint: Endpoint }) {
  const t = useTexts(texts);
  const { tenant, id } = endpoint;
  const [draft, setDraft] = useState<Draft>({
    type: "webhook.test",
    subject: "",
    data: writeJson({ message: t.greeting }),
  });
  const [delivery, setDelivery] = useState<string | null>(null);
  const { isBusy, problems, submit } = useSubmission();
  const event = eventOf(draft);
  const send = () =>
    submit(async () => {
      if (event === null) return;
      const sent = await api.endpoints.test({ tenant, endpoint: id, body: event });
      setDelivery(sent.delivery_id);
    });
  return (
    <>
      <Panel
        title={t.title}
        actions={
          <Button
            kind="primary"
            icon="send"
            isBusy={isBusy}
            disabledReason={!endpoint.is_active ? t.disabled : event === null ? t.notJson : undefined}
            onClick={() => void send()}
          >
            {t.send}
          </Button>
        }
      >
        <div className="flex flex-col gap-3">
          <p className="text-muted">{t.hint}</p>
          <ProblemList problems={problems.elsewhere(["/type", "/subject", "/data"])} />
          <EventDraft draft={draft} onChange={setDraft} problems={problems} />
        </div>
      </Panel>
      {delivery !== null && <Result key={delivery} delivery={delivery} />}
    </>
  );
}

function Result({ delivery: id }: { readonly delivery: string }) {
  const t = useTexts(texts);
  const { data: delivery } = useWatchedDelivery(id);
  return (
    <Panel title={t.result}>
      <div role="status" className="flex flex-col gap-3">
        {delivery === undefined ? (
          <p className="text-muted">{t.onItsWay}</p>
        ) : (
          <Attempted delivery={delivery} />
        )}
      </div>
    </Panel>
  );
}

function Attempted({ delivery }: { readonly delivery: DeliveryDetail }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const last = delivery.attempts.at(-1);
  const isDelivered = delivery.state === "success";
  return (
    <>
      <div className="flex flex-wrap items-center gap-3">
        <StateBadge state={delivery.state} />
        {last !== undefined && (
          <>
            <Badge tone={isDelivered ? "ok" : "bad"} icon={isDelivered ? "check" : "warning"}>
              {last.status_code ?? last.error}
            </Badge>
            {last.duration_ms !== null && <span className="tabular-nums">{duration(last.duration_ms)}</span>}
            <span>{explain(explanationKey(last), language).what}</span>
          </>
        )}
        <Link to="/deliveries/$id" params={{ id: delivery.id }} className="ml-auto underline">
          {t.open}
        </Link>
      </div>
      {last !== undefined && last.response_body !== null && last.response_body !== "" && (
        <CodeView label={t.response} text={last.response_body} />
      )}
    </>
  );
}
