// The first event: with one press, or with the very command that does the same from a terminal.
import type { Event } from "@posthorn/client";
import { Link } from "@tanstack/react-router";
import { api, BASE_URL } from "../../api/client.ts";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { type Example, publishCommand } from "../../format/first-run.ts";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy.tsx";
import { ProblemList } from "../ui/problem-list.tsx";
import { Ago } from "../ui/time.tsx";

const texts = defineTexts({
  en: {
    send: "Send an event",
    again: "Send another one",
    noTenant: "An event is of a tenant, and there is none yet: add an endpoint first.",
    sent: "was published for",
    command: "The same from a terminal or from your program:",
    key: "POSTHORN_API_KEY is the admin key, which was printed at the first start, or",
    ownKey: "a key of your own",
    scope: "with the scope events:publish.",
    tenant: (id: string) => `The tenant ${id} is whose event it is: each of your customers is one.`,
  },
  de: {
    send: "Ein Ereignis senden",
    again: "Noch eines senden",
    noTenant:
      "Ein Ereignis gehört zu einem Mandanten, und es gibt noch keinen: Fügen Sie erst einen Endpunkt hinzu.",
    sent: "wurde veröffentlicht für",
    command: "Dasselbe aus einem Terminal oder aus Ihrem Programm:",
    key: "POSTHORN_API_KEY ist der Admin-Schlüssel, der beim ersten Start ausgegeben wurde, oder",
    ownKey: "ein eigener Schlüssel",
    scope: "mit der Berechtigung events:publish.",
    tenant: (id: string) => `Der Mandant ${id} ist, wessen Ereignis es ist: Jeder Ihrer Kunden ist einer.`,
  },
});

export function SendEvent({
  tenant,
  example,
  sent,
  onSent,
}: {
  /** Null: there is none yet. */
  readonly tenant: string | null;
  readonly example: Example;
  readonly sent: Event | null;
  readonly onSent: () => Promise<void>;
}) {
  const t = useTexts(texts);
  const { isBusy, problems, submit } = useSubmission();
  const send = () =>
    submit(async () => {
      if (tenant !== null) await api.events.publish({ body: { tenant, ...example } });
      await onSent();
    });
  return (
    <>
      {sent !== null && (
        <p>
          <Link to="/events/$id" params={{ id: sent.id }} className="font-mono text-xs underline">
            {sent.type}
          </Link>{" "}
          {t.sent} {sent.tenant}, <Ago at={sent.created_at} />
        </p>
      )}
      <ProblemList problems={problems.elsewhere([])} />
      <div>
        <Button
          kind={sent === null ? "primary" : "plain"}
          icon="send"
          isBusy={isBusy}
          refusedBecause={tenant === null ? t.noTenant : undefined}
          onClick={() => void send()}
        >
          {sent === null ? t.send : t.again}
        </Button>
      </div>
      {tenant === null ? (
        <p className="text-muted">{t.noTenant}</p>
      ) : (
        <div className="flex min-w-0 flex-col gap-1.5">
          <p>{t.command}</p>
          <CopyLine text={publishCommand(BASE_URL, tenant, example)} />
          <p className="text-xs text-muted">
            {t.key}{" "}
            <Link to="/keys" className="underline">
              {t.ownKey}
            </Link>{" "}
            {t.scope} {t.tenant(tenant)}
          </p>
        </div>
      )}
    </>
  );
}
