// A button that opens the form for a new replay, which counts the matching deliveries before it starts.
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useSubmission } from "../../api/problems.ts";
import type { Filters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { stateTexts } from "../../format/delivery-texts.ts";
import { whole } from "../../format/number.ts";
import { duration } from "../../format/time.ts";
import { Button } from "../ui/button.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { Choice, ProblemList, submitted, TextField, Tick } from "../ui/field.tsx";

const t = defineTexts({
  resubscribe: ["Missed events", "Verpasste Ereignisse"],
  resubscribeHint: [
    "Events that match the endpoint's current settings but have no delivery, for example from before it subscribed.",
    "Ereignisse, die zu den aktuellen Einstellungen des Endpunkts passen, für die es aber keine Zustellung gibt, zum Beispiel aus der Zeit vor dem Abonnement.",
  ],
  rate: ["Deliveries per second", "Zustellungen pro Sekunde"],
  preview: ["Count", "Zählen"],
  would: [
    "{count} {count|delivery|deliveries} will be sent.",
    "{count} {count|Zustellung wird|Zustellungen werden} gesendet.",
  ],
  wouldAtLeast: [
    "At least {count} {count|delivery|deliveries} will be sent.",
    "Mindestens {count} {count|Zustellung wird|Zustellungen werden} gesendet.",
  ],
  takes: ["At {rate} per second this takes about {time}.", "Bei {rate} pro Sekunde dauert das etwa {time}."],
  startAt: ["Start at", "Starten um"],
  startAtHint: [
    "Empty: now. At most 90 days ahead; what matches is decided then.",
    "Leer: sofort. Höchstens 90 Tage im Voraus; was passt, wird erst dann bestimmt.",
  ],
  start: ["Start replay", "Replay starten"],
  schedule: ["Schedule replay", "Replay planen"],
  countFirst: ["Count the deliveries first.", "Zählen Sie zuerst die Zustellungen."],
  anything: ["any", "beliebig"],
});

const STATES = ["dead", "failed", "success"] as const;
const DEFAULT_RATE = 50;

interface Preview {
  readonly count: number;
  readonly is_exact: boolean;
}

export function NewReplay({
  isOpenFirst = false,
  initial = {},
  tenant: onlyTenant,
  onClose,
  onStarted,
}: {
  readonly isOpenFirst?: boolean;
  readonly initial?: Filters;
  /** The portal's tenant; operators choose one. */
  readonly tenant?: string;
  readonly onClose?: (() => void) | undefined;
  readonly onStarted?: (id: string) => void;
}) {
  const [isOpen, setOpen] = useState(isOpenFirst);
  const [form, setForm] = useState<Filters>({ states: "dead", rate: String(DEFAULT_RATE), ...initial });
  const [preview, setPreview] = useState<Preview | null>(null);
  const { isBusy, problems, submit } = useSubmission();
  const close = () => {
    setOpen(false);
    onClose?.();
  };
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
  const bodyOf = () => {
    const { states = "dead", after, before, startAt, resubscribe, rate, ...filters } = form;
    const given = {
      ...filters,
      tenant: onlyTenant ?? form.tenant,
      created_after: after && new Date(after).toISOString(),
      created_before: before && new Date(before).toISOString(),
      start_at: startAt && new Date(startAt).toISOString(),
    };
    return {
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value)),
      ...(resubscribe === "yes"
        ? { resubscribe: true }
        : { states: STATES.filter((state) => states === "all" || states === state) }),
      rate: Number(rate),
    };
  };
  const count = () =>
    submit(async () => {
      const answer = await api.replays.start({ body: { ...bodyOf(), dry_run: true } });
      if ("count" in answer) setPreview(answer);
    });
  const start = () =>
    submit(async () => {
      const answer = await api.replays.start({ body: bodyOf() });
      setPreview(null);
      if ("id" in answer) onStarted?.(answer.id);
      close();
    });
  return (
    <>
      <Button kind="primary" icon="replay" onClick={() => setOpen(true)}>
        {t.newReplay}
      </Button>
      <Dialog
        title={t.newReplay}
        isOpen={isOpen}
        onClose={close}
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
              {form.startAt ? t.schedule : t.start}
            </Button>
          </>
        }
      >
        <form onSubmit={submitted(preview === null ? count : start)} className="grid gap-3 sm:grid-cols-2">
          {onlyTenant === undefined && <TextField label={t.tenant} {...text("tenant")} />}
          <TextField label={t.endpoint} {...text("endpoint")} />
          <TextField label={t.eventType} {...text("type")} />
          <Choice
            label={t.deliveries}
            options={[...STATES.map((state) => [state, stateTexts[state]] as const), ["all", t.all]]}
            {...text("states")}
          />
          <TextField type="datetime-local" label={t.createdAfter} {...text("after")} />
          <TextField type="datetime-local" label={t.createdBefore} {...text("before")} />
          <TextField type="number" min={1} max={5_000} label={t.rate} {...text("rate")} />
          <TextField
            type="datetime-local"
            label={t.startAt}
            hint={t.startAtHint}
            problem={problems.at("/start_at")}
            {...text("startAt")}
          />
          <div className="sm:col-span-2">
            <Tick
              label={t.resubscribe}
              hint={t.resubscribeHint}
              checked={form.resubscribe === "yes"}
              onChange={(isChecked) => change({ resubscribe: isChecked ? "yes" : undefined })}
            />
          </div>
          <button type="submit" hidden />
        </form>
        <ProblemList problems={problems.elsewhere(["/start_at"])} />
        <p role="status" className="min-h-5 font-medium">
          {preview !== null && (
            <>
              {(preview.is_exact ? t.would : t.wouldAtLeast)({ count: whole(preview.count) })}{" "}
              {preview.count > Number(form.rate) &&
                t.takes({
                  rate: form.rate ?? "",
                  time: duration((preview.count / Number(form.rate)) * 1_000),
                })}
            </>
          )}
        </p>
      </Dialog>
    </>
  );
}
