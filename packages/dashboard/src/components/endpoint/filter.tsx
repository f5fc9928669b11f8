// The filter of an endpoint: edited as JSON, and tried with an event before it is saved.
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
    hint: 'What an event must have besides its type. Left empty: every event of its types. An example: {"data":{"amount":{"$gte":100}}}',
    save: "Save",
    same: "Nothing was changed.",
    saved: "Saved. It decides about events from now on.",
    try: "Try it",
    tryHint: "Nothing is published or sent. The filter above is asked, saved or not.",
    ask: "Would it get this?",
    yes: "It would get this event.",
    no: "It would not get this event.",
    notJson: "This is not JSON yet.",
  },
  de: {
    title: "Filter",
    hint: 'Was ein Ereignis außer seinem Typ haben muss. Leer: jedes Ereignis seiner Typen. Ein Beispiel: {"data":{"amount":{"$gte":100}}}',
    save: "Speichern",
    same: "Nichts wurde geändert.",
    saved: "Gespeichert. Er entscheidet ab jetzt über Ereignisse.",
    try: "Ausprobieren",
    tryHint:
      "Nichts wird veröffentlicht oder gesendet. Gefragt wird der Filter oben, gespeichert oder nicht.",
    ask: "Bekäme er das?",
    yes: "Er bekäme dieses Ereignis.",
    no: "Er bekäme dieses Ereignis nicht.",
    notJson: "Das ist noch kein JSON.",
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
  // what the box shows goes along when somebody else, or an undo, changes what is saved
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
            refusedBecause={!read.ok ? t.notJson : text === saved ? t.same : undefined}
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
              refusedBecause={isReady ? undefined : t.notJson}
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
