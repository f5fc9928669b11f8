// Disables and enables an endpoint. Enabling shows the backlog and asks whether to deliver or discard it.
import type { Endpoint, Stats } from "@posthorn/client";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useEndpointChanges } from "../../api/endpoints.ts";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { whole } from "../../format/number.ts";
import { Button } from "../ui/button.tsx";
import { Confirm } from "../ui/confirm.tsx";
import { Dialog } from "../ui/dialog.tsx";

const texts = defineTexts({
  en: {
    disable: "Disable",
    disableTitle: "Disable this endpoint?",
    disableHint: "Deliveries stop and are kept until the endpoint is enabled again.",
    disabled: "Endpoint disabled.",
    enable: "Enable",
    enableTitle: "Enable this endpoint?",
    counting: "Counting the backlog …",
    nothing: "The backlog is empty.",
    waits: (count: string, isExact: boolean) =>
      `Backlog: ${isExact ? "" : "at least "}${count} ${count === "1" ? "delivery" : "deliveries"}.`,
    choice: "Backlog",
    deliver: "Deliver the backlog",
    deliverHint: "Oldest first, within the endpoint's limits.",
    discard: "Discard the backlog",
    discardHint: "The deliveries become dead letters with the reason discarded and can still be replayed.",
    enabled: "Endpoint enabled.",
  },
  de: {
    disable: "Deaktivieren",
    disableTitle: "Diesen Endpunkt deaktivieren?",
    disableHint: "Die Zustellungen werden angehalten und aufbewahrt, bis der Endpunkt wieder aktiviert wird.",
    disabled: "Endpunkt deaktiviert.",
    enable: "Aktivieren",
    enableTitle: "Diesen Endpunkt aktivieren?",
    counting: "Der Rückstand wird gezählt …",
    nothing: "Es gibt keinen Rückstand.",
    waits: (count: string, isExact: boolean) =>
      `Rückstand: ${isExact ? "" : "mindestens "}${count} ${count === "1" ? "Zustellung" : "Zustellungen"}.`,
    choice: "Rückstand",
    deliver: "Rückstand zustellen",
    deliverHint: "Das Älteste zuerst, innerhalb der Limits des Endpunkts.",
    discard: "Rückstand verwerfen",
    discardHint:
      "Die Zustellungen werden zu Dead Letters mit dem Grund discarded; ein Replay bleibt möglich.",
    enabled: "Endpunkt aktiviert.",
  },
});

/** Separate components, so that an open disable dialog does not turn into the enable dialog. */
export function EndpointSwitch({ endpoint }: { readonly endpoint: Endpoint }) {
  return endpoint.is_active ? <DisableButton endpoint={endpoint} /> : <EnableButton endpoint={endpoint} />;
}

function DisableButton({ endpoint }: { readonly endpoint: Endpoint }) {
  const t = useTexts(texts);
  const changes = useEndpointChanges();
  const [isOpen, setOpen] = useState(false);
  const disable = () => changes.disable(endpoint, t.disabled);
  return (
    <>
      <Button icon="pause" onClick={() => setOpen(true)}>
        {t.disable}
      </Button>
      {isOpen && (
        <Confirm title={t.disableTitle} action={t.disable} onConfirm={disable} onClose={() => setOpen(false)}>
          <p>{t.disableHint}</p>
        </Confirm>
      )}
    </>
  );
}

function EnableButton({ endpoint }: { readonly endpoint: Endpoint }) {
  const t = useTexts(texts);
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <Button kind="primary" icon="check" onClick={() => setOpen(true)}>
        {t.enable}
      </Button>
      {isOpen && <Enable endpoint={endpoint} onClose={() => setOpen(false)} />}
    </>
  );
}

const BACKLOGS = ["deliver", "discard"] as const;

function Enable({ endpoint, onClose }: { readonly endpoint: Endpoint; readonly onClose: () => void }) {
  const t = useTexts(texts);
  const language = useLanguage();
  const changes = useEndpointChanges();
  const { tenant, id } = endpoint;
  const [backlog, setBacklog] = useState<(typeof BACKLOGS)[number]>("deliver");
  const { isBusy, submit } = useSubmission();
  const { data: stats } = useQuery({
    queryKey: ["stats", id],
    queryFn: ({ signal }) => api.stats.get({ query: { tenant, endpoint: id }, signal }),
    staleTime: 0,
  });
  const waiting = stats === undefined ? null : waitingIn(stats);
  const enable = async () => {
    if (await submit(() => changes.enable(endpoint, backlog, t.enabled))) onClose();
  };
  return (
    <Dialog
      title={t.enableTitle}
      isOpen
      onClose={onClose}
      actions={
        <Button
          kind={backlog === "discard" ? "danger" : "primary"}
          isBusy={isBusy}
          onClick={() => void enable()}
        >
          {t.enable}
        </Button>
      }
    >
      <p role="status">
        {waiting === null
          ? t.counting
          : waiting.count === 0
            ? t.nothing
            : t.waits(whole(waiting.count, language), waiting.isExact)}
      </p>
      {waiting !== null && waiting.count > 0 && (
        <fieldset className="flex flex-col gap-2">
          <legend className="sr-only">{t.choice}</legend>
          {BACKLOGS.map((choice) => (
            <label key={choice} className="flex gap-2">
              <input
                type="radio"
                name="backlog"
                value={choice}
                checked={backlog === choice}
                onChange={() => setBacklog(choice)}
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
    </Dialog>
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
