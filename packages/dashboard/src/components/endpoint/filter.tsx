// Edits an endpoint's filter as JSON and tests it with an event.
import type { Endpoint } from "@posthorn/client";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useEndpointChanges } from "../../api/endpoints.ts";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { readJson, writeJson } from "../../format/json-text.ts";
import { type Draft, EventDraft, eventOf } from "../event/event-draft.tsx";
import { Badge } from "../ui/badge.tsx";
import { Button } from "../ui/button.tsx";
import { TextArea } from "../ui/field.tsx";
import { Panel } from "../ui/panel.tsx";
import { ProblemList } from "../ui/problem-list.tsx";

const texts = defineTexts({
  en: {
    title: "Filter",
    hint: 'Optional conditions on events, for example {"data":{"amount":{"$gte":100}}}. Empty accepts all events of the subscribed types.',
    save: "Save",
    same: "No changes.",
    saved: "Saved. The filter applies to new events.",
    try: "Test the filter",
    tryHint: "Checks the filter above, saved or not. Nothing is published or sent.",
    ask: "Test",
    yes: "This event matches.",
    no: "This event does not match.",
    notJson: "Not valid JSON.",
  },
  de: {
    title: "Filter",
    hint: 'Optionale Bedingungen, zum Beispiel {"data":{"amount":{"$gte":100}}}. Leer: alle Ereignisse der abonnierten Typen.',
    save: "Speichern",
    same: "Keine Änderungen.",
    saved: "Gespeichert. Der Filter gilt für neue Ereignisse.",
    try: "Filter testen",
    tryHint: "Prüft den obigen Filter, auch ungespeichert. Es wird nichts veröffentlicht oder gesendet.",
    ask: "Testen",
    yes: "Dieses Ereignis passt.",
    no: "Dieses Ereignis passt nicht.",
    notJson: "Kein gültiges JSON.",
  },
});

type Match = Awaited<ReturnType<typeof api.endpoints.match>>;

export function EndpointFilter({ endpoint }: { readonly endpoint: Endpoint }) {
  const t = useTexts(texts);
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
        title={t.title}
        actions={
          <Button
            kind="primary"
            isBusy={saving.isBusy}
            disabledReason={!read.ok ? t.notJson : text === saved ? t.same : undefined}
            onClick={() => void save()}
          >
            {t.save}
          </Button>
        }
      >
        <TextArea
          label={t.title}
          hint={t.hint}
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
