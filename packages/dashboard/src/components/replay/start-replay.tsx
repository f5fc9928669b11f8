// The form for a new replay: counts the matching deliveries before it starts.
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { useSubmission } from "../../api/problems.ts";
import type { Filters } from "../../app/filters.ts";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { whole } from "../../format/number.ts";
import { duration } from "../../format/time.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Choice, TextField, Tick } from "../ui/field.tsx";
import { ProblemList } from "../ui/problem-list.tsx";

const texts = defineTexts({
  en: {
    title: "New replay",
    tenant: "Tenant",
    endpoint: "Endpoint",
    type: "Event type",
    after: "Created after",
    before: "Created before",
    which: "Deliveries",
    dead: "dead",
    failed: "waiting for a retry",
    success: "delivered",
    all: "all",
    resubscribe: "Missed events",
    resubscribeHint:
      "Events that match the endpoint's current settings but have no delivery, for example from before it subscribed.",
    rate: "Deliveries per second",
    preview: "Count",
    would: (count: string, isExact: boolean) =>
      `${isExact ? "" : "At least "}${count} ${count === "1" ? "delivery" : "deliveries"} will be sent.`,
    takes: (rate: string, time: string) => `At ${rate} per second this takes about ${time}.`,
    start: "Start replay",
    countFirst: "Count the deliveries first.",
    anything: "any",
  },
  de: {
    title: "Neues Replay",
    tenant: "Mandant",
    endpoint: "Endpunkt",
    type: "Ereignistyp",
    after: "Erstellt nach",
    before: "Erstellt vor",
    which: "Zustellungen",
    dead: "fehlgeschlagen",
    failed: "warten auf neuen Versuch",
    success: "zugestellt",
    all: "alle",
    resubscribe: "Verpasste Ereignisse",
    resubscribeHint:
      "Ereignisse, auf die die aktuellen Einstellungen des Endpunkts zutreffen, die aber keine Zustellung haben, zum Beispiel aus der Zeit vor dem Abonnement.",
    rate: "Zustellungen pro Sekunde",
    preview: "Zählen",
    would: (count: string, isExact: boolean) =>
      `${isExact ? "" : "Mindestens "}${count} ${count === "1" ? "Zustellung wird" : "Zustellungen werden"} gesendet.`,
    takes: (rate: string, time: string) => `Bei ${rate} pro Sekunde dauert das etwa ${time}.`,
    start: "Replay starten",
    countFirst: "Zählen Sie zuerst die Zustellungen.",
    anything: "beliebig",
  },
});

const STATES = {
  dead: ["dead"],
  failed: ["failed"],
  success: ["success"],
  all: ["dead", "failed", "success"],
} as const;
const DEFAULT_RATE = 50;

interface Preview {
  readonly count: number;
  readonly is_exact: boolean;
}

export function StartReplay({
  isOpen,
  initial = {},
  tenant: onlyTenant,
  onClose,
  onStarted,
}: {
  readonly isOpen: boolean;
  readonly initial?: Filters;
  /** The portal's tenant; operators choose one. */
  readonly tenant?: string;
  readonly onClose: () => void;
  readonly onStarted: (id: string) => void;
}) {
  const t = useTexts(texts);
  const language = useLanguage();
  const queries = useQueryClient();
  const [form, setForm] = useState<Filters>({ states: "dead", rate: String(DEFAULT_RATE), ...initial });
  const [preview, setPreview] = useState<Preview | null>(null);
  const { isBusy, problems, submit: ask } = useSubmission();
  const change = (part: Filters) => {
    setForm({ ...form, ...part });
    setPreview(null);
  };
  const text = (name: string) => ({
    value: form[name] ?? "",
    placeholder: t.anything,
    onChange: (event: { readonly target: { readonly value: string } }) =>
      change({ [name]: event.target.value }),
  });
  const bodyOf = () => ({
    ...given("tenant", onlyTenant ?? form.tenant),
    ...given("endpoint", form.endpoint),
    ...given("type", form.type),
    ...given("reason", form.reason),
    ...given("created_after", form.after && new Date(form.after).toISOString()),
    ...given("created_before", form.before && new Date(form.before).toISOString()),
    ...(form.resubscribe === "yes"
      ? { resubscribe: true }
      : { states: [...STATES[(form.states ?? "dead") as keyof typeof STATES]] }),
    rate: Number(form.rate),
  });
  const count = () =>
    ask(async () => {
      const answer = await api.replays.start({ body: { ...bodyOf(), dry_run: true } });
      if ("count" in answer) setPreview(answer);
    });
  const start = () =>
    ask(async () => {
      const answer = await api.replays.start({ body: bodyOf() });
      setPreview(null);
      await queries.invalidateQueries();
      if ("id" in answer) onStarted(answer.id);
      onClose();
    });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void (preview === null ? count() : start());
  };
  return (
    <Dialog
      title={t.title}
      isOpen={isOpen}
      onClose={onClose}
      actions={
        <>
          <Button onClick={() => void count()} isBusy={isBusy}>
            {t.preview}
          </Button>
          <Button
            kind="primary"
            isBusy={isBusy}
            disabledReason={preview === null ? t.countFirst : undefined}
            onClick={() => void start()}
          >
            {t.start}
          </Button>
        </>
      }
    >
      <form onSubmit={submit} className="grid gap-3 sm:grid-cols-2">
        {onlyTenant === undefined && <TextField label={t.tenant} {...text("tenant")} />}
        <TextField label={t.endpoint} {...text("endpoint")} />
        <TextField label={t.type} {...text("type")} />
        <Choice label={t.which} {...text("states")}>
          {(Object.keys(STATES) as (keyof typeof STATES)[]).map((name) => (
            <option key={name} value={name}>
              {t[name]}
            </option>
          ))}
        </Choice>
        <TextField type="datetime-local" label={t.after} {...text("after")} />
        <TextField type="datetime-local" label={t.before} {...text("before")} />
        <TextField type="number" min={1} max={5_000} label={t.rate} {...text("rate")} />
        <div className="sm:col-span-2">
          <Tick
            label={t.resubscribe}
            hint={t.resubscribeHint}
            checked={form.resubscribe === "yes"}
            onChange={(event) => change({ resubscribe: event.target.checked ? "yes" : undefined })}
          />
        </div>
        <button type="submit" hidden />
      </form>
      <ProblemList problems={problems.elsewhere([])} />
      <p role="status" className="min-h-5 font-medium">
        {preview !== null && (
          <>
            {t.would(whole(preview.count, language), preview.is_exact)}{" "}
            {preview.count > Number(form.rate) &&
              t.takes(form.rate ?? "", duration((preview.count / Number(form.rate)) * 1_000))}
          </>
        )}
      </p>
    </Dialog>
  );
}

function given<Name extends string>(name: Name, value: string | undefined): Partial<Record<Name, string>> {
  return value === undefined || value === "" ? {} : ({ [name]: value } as Record<Name, string>);
}
