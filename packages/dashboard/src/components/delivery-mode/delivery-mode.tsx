// Whether deliveries are sent, for the whole installation: the banner on every page, and the panel that changes it.
import type { DeliveryMode } from "@posthorn/client";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { api } from "../../api/client.ts";
import { useSession } from "../../api/session.ts";
import { apiKey, useApi } from "../../api/use-api.ts";
import { defineTexts, type Text } from "../../app/texts.ts";
import { whole } from "../../format/number.ts";
import { DialogButton, FormDialog } from "../ui/dialog.tsx";
import { Choice, TextField, useForm } from "../ui/field.tsx";
import { Fact, Facts, Note, NotLoaded, Panel, TimeFact } from "../ui/page.tsx";
import { showToast } from "../ui/toasts.tsx";

type Mode = DeliveryMode["mode"];

const t = defineTexts({
  title: ["Delivery", "Zustellung"],
  change: ["Turn on or off", "Ein- oder ausschalten"],
  apply: ["Apply", "Übernehmen"],
  mode: ["Mode", "Modus"],
  modes: {
    on: ["on: deliveries are sent", "on: Zustellungen werden gesendet"],
    hold: ["hold: nothing is sent, new events wait", "hold: nichts wird gesendet, neue Ereignisse warten"],
    drop: [
      "drop: nothing is sent, new events are never delivered",
      "drop: nichts wird gesendet, neue Ereignisse werden nie zugestellt",
    ],
  } as Readonly<Record<Mode, Text>>,
  setting: [
    "start-up setting: {mode} (POSTHORN_ENABLED)",
    "Einstellung beim Start: {mode} (POSTHORN_ENABLED)",
  ],
  banner: {
    hold: [
      "Delivery is off for all tenants. New events wait until it is on.",
      "Die Zustellung ist für alle Mandanten ausgeschaltet. Neue Ereignisse warten, bis sie eingeschaltet wird.",
    ],
    drop: [
      "Delivery is off for all tenants. New events are stored and never delivered.",
      "Die Zustellung ist für alle Mandanten ausgeschaltet. Neue Ereignisse werden gespeichert und nie zugestellt.",
    ],
  } as Readonly<Record<Exclude<Mode, "on">, Text>>,
  by: ["Changed by", "Geändert von"],
  since: ["Since", "Seit"],
  note: ["Note", "Notiz"],
  noteHint: ["Optional. Shown here and in the audit log.", "Optional. Erscheint hier und im Audit-Log."],
  atStart: ["the start-up setting", "Einstellung beim Start"],
  dropped: ["Events dropped", "Verworfene Ereignisse"],
  changed: ["Every process follows within a second.", "Alle Prozesse folgen innerhalb einer Sekunde."],
});

const REFRESH_MS = 5_000;

/** Shown to operators while nothing is sent. */
export function DeliveryOffBanner() {
  const { data: session } = useSession();
  const enabled = session?.kind === "operator" && session.tenant === null && session.scopes.includes("admin");
  // read again when the window gets the focus: polling on every page would cost more than it shows
  const { data } = useApi("deliveryMode.get", {}, { enabled });
  if (data === undefined || data.mode === "on") return null;
  return (
    <div className="px-4 pt-4">
      <Note>
        <p className="font-semibold">{t.banner[data.mode]}</p>
        {data.note !== null && <p className="break-words">{data.note}</p>}
        <Link to="/system" className="underline">
          {t.change}
        </Link>
      </Note>
    </div>
  );
}

export function DeliveryModePanel() {
  const query = useApi("deliveryMode.get", {}, { refetchInterval: REFRESH_MS });
  if (query.data === undefined) return <NotLoaded query={query} />;
  const { mode, source, since, changed_by, note, dropped } = query.data;
  return (
    <Panel
      title={t.title}
      actions={
        <DialogButton label={t.change}>
          <ChangeMode current={query.data} />
        </DialogButton>
      }
    >
      <Facts>
        <Fact name={t.mode}>{t.modes[mode]}</Fact>
        <Fact name={t.by}>{source === "setting" ? t.atStart : (changed_by ?? "–")}</Fact>
        <TimeFact name={t.since} at={since} />
        {note !== null && <Fact name={t.note}>{note}</Fact>}
        {(mode === "drop" || dropped > 0) && <Fact name={t.dropped}>{whole(dropped)}</Fact>}
      </Facts>
    </Panel>
  );
}

const SETTING = "setting";

function ChangeMode({ current }: { readonly current: DeliveryMode }) {
  const queries = useQueryClient();
  const shown: string = current.source === "setting" ? SETTING : current.mode;
  const form = useForm({ mode: shown, note: "" });
  const { mode, note } = form.form;
  const save = async () => {
    const body = { mode: mode === SETTING ? null : (mode as Mode), note: note === "" ? null : note };
    queries.setQueryData(apiKey("deliveryMode.get", {}), await api.deliveryMode.set({ body }));
    showToast(t.changed);
  };
  const options = (["on", "hold", "drop"] as const).map((each) => [each, t.modes[each]] as const);
  const chosen = mode === SETTING ? current.setting : (mode as Mode);
  return (
    <FormDialog
      title={t.title}
      action={t.apply}
      kind={mode === "drop" ? "danger" : "primary"}
      form={form}
      onSubmit={save}
    >
      <Choice
        label={t.mode}
        // a narrow select cuts its options off
        hint={t.modes[chosen]}
        options={[...options, [SETTING, t.setting({ mode: current.setting })]]}
        {...form.field("mode")}
      />
      <TextField label={t.note} hint={t.noteHint} maxLength={500} {...form.field("note")} />
    </FormDialog>
  );
}
