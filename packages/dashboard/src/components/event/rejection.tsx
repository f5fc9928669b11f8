// Why the catalogue rejected an event, and the buttons to decide about it.
import type { EventDetail } from "@posthorn/client";
import { api } from "../../api/client.ts";
import { useHasScope } from "../../api/session.ts";
import { defineTexts } from "../../app/texts.ts";
import { ActionButton } from "../ui/action-button.tsx";
import { Note } from "../ui/page.tsx";
import { Ago } from "../ui/time.tsx";

const t = defineTexts({
  rejected: ["Rejected by the catalogue", "Vom Katalog abgelehnt"],
  undecided: [
    "Nothing is delivered until someone releases the event.",
    "Es wird nichts zugestellt, bis jemand das Ereignis freigibt.",
  ],
  tooLarge: [
    "The data was too large to be stored, so this event can only be discarded.",
    "Die Daten waren zu groß, um gespeichert zu werden; dieses Ereignis kann nur verworfen werden.",
  ],
  discarded: ["Discarded", "Verworfen"],
  cannot: ["This needs the scope events:publish.", "Dafür ist die Berechtigung events:publish erforderlich."],
  wasDiscarded: ["The event was discarded already.", "Das Ereignis wurde bereits verworfen."],
});

export function Rejection({
  id,
  rejection: { code, message, rejected_at, discarded_at },
}: {
  readonly id: string;
  readonly rejection: NonNullable<EventDetail["rejection"]>;
}) {
  const mayDecide = useHasScope("events:publish");
  const reason = mayDecide ? undefined : t.cannot;
  const isTooLarge = code === "payload_too_large";
  return (
    <Note>
      <p className="font-medium">
        {t.rejected} <Ago at={rejected_at} />
      </p>
      <p className="break-words">{message}</p>
      <p>
        {discarded_at === null ? (
          isTooLarge ? (
            t.tooLarge
          ) : (
            t.undecided
          )
        ) : (
          <>
            {t.discarded} <Ago at={discarded_at} />
          </>
        )}
      </p>
      <div className="flex flex-wrap gap-2">
        <ActionButton
          kind="primary"
          icon="send"
          disabledReason={reason ?? (isTooLarge ? t.tooLarge : undefined)}
          action={() => api.events.release({ event: id })}
        >
          {t.release}
        </ActionButton>
        <ActionButton
          icon="dead"
          disabledReason={reason ?? (discarded_at === null ? undefined : t.wasDiscarded)}
          action={() => api.events.discard({ event: id })}
        >
          {t.discard}
        </ActionButton>
      </div>
    </Note>
  );
}
