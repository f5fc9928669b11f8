// Asks what is to be sent again, says how many that would be, and only then begins.
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
    title: "Replay",
    tenant: "Tenant",
    endpoint: "Endpoint",
    type: "Event type",
    after: "Created after",
    before: "Created before",
    which: "Which deliveries",
    dead: "dead ones",
    failed: "those that wait for a retry",
    success: "delivered ones, once more",
    all: "all of them",
    resubscribe: "Events an endpoint wants now and has not got",
    resubscribeHint: "What was published before the endpoint asked for it, or while a filter kept it away.",
    rate: "Deliveries a second",
    preview: "Count them",
    would: (count: string, isExact: boolean) => `${isExact ? "" : "At least "}${count} would be sent again.`,
    takes: (rate: string, time: string) => `At ${rate} a second that takes about ${time}.`,
    start: "Replay them",
    countFirst: "Count them first.",
    anything: "any",
  },
  de: {
    title: "Wiederholen",
    tenant: "Mandant",
    endpoint: "Endpunkt",
    type: "Ereignistyp",
    after: "Angelegt nach",
    before: "Angelegt vor",
    which: "Welche Zustellungen",
    dead: "aufgegebene",
    failed: "die auf einen neuen Versuch warten",
    success: "zugestellte, noch einmal",
    all: "alle",
    resubscribe: "Ereignisse, die ein Endpunkt jetzt will und nicht bekam",
    resubscribeHint: "Was veröffentlicht wurde, bevor der Endpunkt es wollte, oder was ein Filter fernhielt.",
    rate: "Zustellungen je Sekunde",
    preview: "Zählen",
    would: (count: string, isExact: boolean) =>
      `${isExact ? "" : "Mindestens "}${count} würden noch einmal gesendet.`,
    takes: (rate: string, time: string) => `Bei ${rate} je Sekunde dauert das etwa ${time}.`,
    start: "Wiederholen",
    countFirst: "Erst zählen.",
    anything: "beliebig",
  },
});

const STATES = {
  dead: ["dead"],
  failed: ["failed"],
  success: ["success"],
  all: ["dead", "failed", "success"],
} as const;
const USUAL_RATE = 50;

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
  /** Of whose portal it is: there is no other to choose. */
  readonly tenant?: string;
  readonly onClose: () => void;
  readonly onStarted: (id: string) => void;
}) {
  const t = useTexts(texts);
  const language = useLanguage();
  const queries = useQueryClient();
  const [form, setForm] = useState<Filters>({ states: "dead", rate: String(USUAL_RATE), ...initial });
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
            refusedBecause={preview === null ? t.countFirst : undefined}
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
