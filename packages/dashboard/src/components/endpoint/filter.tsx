// Edits an endpoint's filter as JSON and tests it with an event.
import type { Endpoint } from "@posthorn/client";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useEndpointChanges } from "../../api/endpoints.ts";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts } from "../../app/texts.ts";
import { readJson, writeJson } from "../../format/json-text.ts";
import { type Draft, EventDraft, eventOf } from "../event/event-draft.tsx";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { ProblemList, TextArea } from "../ui/field.tsx";
import { Panel } from "../ui/page.tsx";

const t = defineTexts({
  hint: [
    "Optional conditions on events, for example {example}. Empty accepts all events of the subscribed types.",
    "Optionale Bedingungen, zum Beispiel {example}. Leer: alle Ereignisse der abonnierten Typen.",
  ],
  saved: ["Saved. The filter applies to new events.", "Gespeichert. Der Filter gilt für neue Ereignisse."],
  try: ["Test the filter", "Filter testen"],
  tryHint: [
    "Checks the filter above, saved or not. Nothing is published or sent.",
    "Prüft den obigen Filter, auch ungespeichert. Es wird nichts veröffentlicht oder gesendet.",
  ],
  ask: ["Test", "Testen"],
  yes: ["This event matches.", "Dieses Ereignis passt."],
  no: ["This event does not match.", "Dieses Ereignis passt nicht."],
});

const EXAMPLE = '{"data":{"amount":{"$gte":100}}}';

type Match = Awaited<ReturnType<typeof api.endpoints.match>>;

export function EndpointFilter({ endpoint }: { readonly endpoint: Endpoint }) {
  const { tenant, id } = endpoint;
  const { update } = useEndpointChanges();
  const saved = writeJson(endpoint.filter);
  const [text, setText] = useState(saved);
  const [draft, setDraft] = useState<Draft>({ type: "order.paid", subject: "", data: "{}" });
  const [match, setMatch] = useState<Match | null>(null);
  const saving = useSubmission();
  const trying = useSubmission();
  const read = readJson(text);
  const filter = read.ok ? (read.value ?? null) : undefined;
  const event = eventOf(draft);
  const isReady = read.ok && event !== null;
  // follows changes to the saved filter, unless the text was edited
  const [shown, setShown] = useState(saved);
  if (shown !== saved) {
    setShown(saved);
    if (text === shown) setText(saved);
  }
  const save = () => saving.submit(() => update(endpoint, { filter }, t.saved));
  const ask = () =>
    trying.submit(async () => {
      setMatch(null);
      if (event !== null)
        setMatch(await api.endpoints.match({ tenant, endpoint: id, body: { ...event, filter } }));
    });
  return (
    <>
      <Panel
        title={t.filter}
        actions={
          <Button
            kind="primary"
            isBusy={saving.isBusy}
            disabledReason={!read.ok ? t.notJson : text === saved ? t.noChanges : undefined}
            onClick={() => void save()}
          >
            {t.save}
          </Button>
        }
      >
        <TextArea
          label={t.filter}
          hint={t.hint({ example: EXAMPLE })}
          value={text}
          problem={read.ok ? (saving.problems.at("/filter") ?? trying.problems.at("/filter")) : read.problem}
          onChange={(change) => {
            setText(change.target.value);
            setMatch(null);
          }}
        />
      </Panel>
      <Panel title={t.try}>
        <div className="flex flex-col gap-3">
          <p className="text-muted">{t.tryHint}</p>
          <EventDraft
            draft={draft}
            problems={trying.problems}
            onChange={(change) => {
              setDraft(change);
              setMatch(null);
            }}
          />
          <ProblemList problems={trying.problems.elsewhere(["/type", "/subject", "/data", "/filter"])} />
          <div className="flex flex-wrap items-center gap-3">
            <Button
              isBusy={trying.isBusy}
              disabledReason={isReady ? undefined : t.notJson}
              onClick={() => void ask()}
            >
              {t.ask}
            </Button>
            <p role="status" className="flex min-h-6 flex-wrap items-center gap-2">
              {match !== null && (
                <>
                  <Badge tone={match.matches ? "ok" : "warn"} icon={match.matches ? "check" : "dead"}>
                    {match.matches ? t.yes : t.no}
                  </Badge>
                  {match.detail}
                </>
              )}
            </p>
          </div>
        </div>
      </Panel>
    </>
  );
}
