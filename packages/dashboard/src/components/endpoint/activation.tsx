// Disables and enables an endpoint. Enabling shows the backlog and asks whether to deliver or discard it.
import type { Endpoint, Stats } from "@posthorn/client";
import { useEndpointChanges } from "../../api/endpoints.ts";
import { useApi } from "../../api/use-api.ts";
import { defineTexts } from "../../app/texts.ts";
import { whole } from "../../format/number.ts";
import { ConfirmButton, DialogButton, FormDialog } from "../ui/dialog.tsx";
import { useForm } from "../ui/field.tsx";

const t = defineTexts({
  disableTitle: ["Disable this endpoint?", "Diesen Endpunkt deaktivieren?"],
  disableHint: [
    "Deliveries stop and are kept until the endpoint is enabled again.",
    "Die Zustellungen werden angehalten und aufbewahrt, bis der Endpunkt wieder aktiviert wird.",
  ],
  disabled: ["Endpoint disabled.", "Endpunkt deaktiviert."],
  enableTitle: ["Enable this endpoint?", "Diesen Endpunkt aktivieren?"],
  counting: ["Counting the backlog …", "Der Rückstand wird gezählt …"],
  nothing: ["The backlog is empty.", "Es gibt keinen Rückstand."],
  waits: [
    "Backlog: {count} {count|delivery|deliveries}.",
    "Rückstand: {count} {count|Zustellung|Zustellungen}.",
  ],
  waitsAtLeast: [
    "Backlog: at least {count} {count|delivery|deliveries}.",
    "Rückstand: mindestens {count} {count|Zustellung|Zustellungen}.",
  ],
  deliver: ["Deliver the backlog", "Rückstand zustellen"],
  deliverHint: [
    "Oldest first, within the endpoint's limits.",
    "Die ältesten zuerst, innerhalb der Limits des Endpunkts.",
  ],
  discard: ["Discard the backlog", "Rückstand verwerfen"],
  discardHint: [
    "The deliveries become dead letters with the reason discarded and can still be replayed.",
    "Die Zustellungen werden zu Dead Letters mit dem Grund discarded; ein Replay bleibt möglich.",
  ],
  enabled: ["Endpoint enabled.", "Endpunkt aktiviert."],
});

export function EndpointSwitch({ endpoint }: { readonly endpoint: Endpoint }) {
  const changes = useEndpointChanges();
  if (endpoint.is_active) {
    return (
      <ConfirmButton
        icon="pause"
        title={t.disableTitle}
        action={t.disable}
        hint={t.disableHint}
        onConfirm={() => changes.disable(endpoint, t.disabled)}
      />
    );
  }
  return (
    <DialogButton kind="primary" icon="check" label={t.enable}>
      <Enable endpoint={endpoint} />
    </DialogButton>
  );
}

const BACKLOGS = ["deliver", "discard"] as const;

function Enable({ endpoint }: { readonly endpoint: Endpoint }) {
  const changes = useEndpointChanges();
  const { tenant, id } = endpoint;
  const form = useForm<{ backlog: (typeof BACKLOGS)[number] }>({ backlog: "deliver" });
  const { backlog } = form.form;
  const { data: stats } = useApi("stats.get", { query: { tenant, endpoint: id } }, { staleTime: 0 });
  const waiting = stats === undefined ? null : waitingIn(stats);
  return (
    <FormDialog
      title={t.enableTitle}
      action={t.enable}
      kind={backlog === "discard" ? "danger" : "primary"}
      form={form}
      onSubmit={() => changes.enable(endpoint, backlog, t.enabled)}
    >
      <p role="status">
        {waiting === null
          ? t.counting
          : waiting.count === 0
            ? t.nothing
            : (waiting.isExact ? t.waits : t.waitsAtLeast)({ count: whole(waiting.count) })}
      </p>
      {waiting !== null && waiting.count > 0 && (
        <fieldset className="flex flex-col gap-2">
          <legend className="sr-only">{t.backlog}</legend>
          {BACKLOGS.map((choice) => (
            <label key={choice} className="flex gap-2">
              <input
                type="radio"
                name="backlog"
                value={choice}
                checked={backlog === choice}
                onChange={() => form.setForm({ backlog: choice })}
                className="mt-1"
              />
              <span>
                <span className="font-medium">{t[choice]}</span>
                <span className="block text-xs text-muted">{t[`${choice}Hint`]}</span>
              </span>
            </label>
          ))}
        </fieldset>
      )}
    </FormDialog>
  );
}

function waitingIn({ now: { pending, failed, in_flight } }: Stats): {
  readonly count: number;
  readonly isExact: boolean;
} {
  const parts = [pending, failed, in_flight];
  return {
    count: parts.reduce((sum, { count }) => sum + count, 0),
    isExact: parts.every(({ is_exact }) => is_exact),
  };
}
