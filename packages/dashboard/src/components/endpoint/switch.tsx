// Switches an endpoint off and on. Who switches it on sees how much waits, and says what becomes of it.
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
    disableHint: "Nothing is sent to it from now on. What is for it is kept, and waits until it is enabled.",
    disabled: "Nothing is sent to it any more.",
    enable: "Enable",
    enableTitle: "Enable this endpoint",
    counting: "Counting what waits …",
    nothing: "Nothing waits for it.",
    waits: (count: string, isExact: boolean) =>
      `Waiting for it: ${isExact ? "" : "at least "}${count}. What is to become of them?`,
    choice: "What becomes of what waits",
    deliver: "Deliver them",
    deliverHint: "They are sent from now on, the oldest first, at the endpoint's own pace.",
    discard: "Discard them",
    discardHint: "They end as dead letters with the reason discarded. A replay can still bring them.",
    enabled: "It is active again.",
  },
  de: {
    disable: "Abschalten",
    disableTitle: "Diesen Endpunkt abschalten?",
    disableHint:
      "Ab jetzt wird nichts an ihn gesendet. Was für ihn ist, wird aufgehoben, bis er eingeschaltet wird.",
    disabled: "Ab jetzt wird nichts an ihn gesendet.",
    enable: "Einschalten",
    enableTitle: "Diesen Endpunkt einschalten",
    counting: "Zählt, was wartet …",
    nothing: "Nichts wartet auf ihn.",
    waits: (count: string, isExact: boolean) =>
      `Es warten auf ihn: ${isExact ? "" : "mindestens "}${count}. Was soll daraus werden?`,
    choice: "Was aus dem Wartenden wird",
    deliver: "Zustellen",
    deliverHint: "Sie werden ab jetzt gesendet, die ältesten zuerst, im Tempo des Endpunkts.",
    discard: "Verwerfen",
    discardHint:
      "Sie enden als aufgegeben, mit dem Grund discarded. Eine Wiederholung kann sie noch bringen.",
    enabled: "Er ist wieder aktiv.",
  },
});

/** Two with a state of their own: the question to switch it off must not be open as the one to switch it on. */
export function EndpointSwitch({ endpoint }: { readonly endpoint: Endpoint }) {
  return endpoint.is_active ? <SwitchOff endpoint={endpoint} /> : <SwitchOn endpoint={endpoint} />;
}

function SwitchOff({ endpoint }: { readonly endpoint: Endpoint }) {
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

function SwitchOn({ endpoint }: { readonly endpoint: Endpoint }) {
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
