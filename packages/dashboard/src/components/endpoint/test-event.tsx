// Sends an editable test event and shows its outcome live.

import type { Endpoint } from "@posthorn/client";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useWatchedDelivery } from "../../api/deliveries.ts";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts } from "../../app/texts.ts";
import { explain, explanationKey } from "../../format/delivery-texts.ts";
import { writeJson } from "../../format/json-text.ts";
import { duration } from "../../format/time.ts";
import { OutcomeBadge, StateBadge } from "../delivery/state-badge.tsx";
import { type Draft, EventDraft, eventOf } from "../event/event-draft.tsx";
import { BodyView } from "../ui/body-view.tsx";
import { Button } from "../ui/button.tsx";
import { ProblemList } from "../ui/field.tsx";
import { IdLink } from "../ui/links.tsx";
import { Panel } from "../ui/page.tsx";

const t = defineTexts({
  title: ["Test event", "Testereignis"],
  hint: [
    "Sent only to this endpoint, regardless of its event types and filter, like any other delivery.",
    "Wird unabhängig von Ereignistypen und Filter nur an diesen Endpunkt gesendet, wie jede andere Zustellung.",
  ],
  notJson: ["The data is not valid JSON.", "Die Daten sind kein gültiges JSON."],
  result: ["Outcome", "Ergebnis"],
  onItsWay: ["Sending …", "Wird gesendet …"],
  response: ["Response", "Antwort"],
  greeting: ["This is a test event.", "Das ist ein Testereignis."],
});

export function TestEvent({ endpoint }: { readonly endpoint: Endpoint }) {
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
            disabledReason={!endpoint.is_active ? t.enableFirst : event === null ? t.notJson : undefined}
            onClick={() => void send()}
          >
            {t.sendTestEvent}
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
  const { data: delivery } = useWatchedDelivery(id);
  const last = delivery?.attempts.at(-1);
  return (
    <Panel title={t.result}>
      <div role="status" className="flex flex-col gap-3">
        {delivery === undefined ? (
          <p className="text-muted">{t.onItsWay}</p>
        ) : (
          <div className="flex flex-wrap items-center gap-3">
            <StateBadge state={delivery.state} />
            {last && <OutcomeBadge attempt={last} />}
            {last && last.duration_ms !== null && (
              <span className="tabular-nums">{duration(last.duration_ms)}</span>
            )}
            {last && <span>{explain(explanationKey(last)).what}</span>}
            <IdLink to="/deliveries/$id" id={id} className="ml-auto underline">
              {t.openDelivery}
            </IdLink>
          </div>
        )}
        {last?.response_body && <BodyView label={t.response} text={last.response_body} />}
      </div>
    </Panel>
  );
}
