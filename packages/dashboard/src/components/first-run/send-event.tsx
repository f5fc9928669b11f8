// Publishes the first event, by button or by the equivalent command.

import type { Event } from "@posthorn/client";
import { Link } from "@tanstack/react-router";
import { api, BASE_URL } from "../../api/client.ts";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts } from "../../app/texts.ts";
import { type Example, publishCommand } from "../../format/first-run.ts";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy.tsx";
import { ProblemList } from "../ui/field.tsx";
import { Ago } from "../ui/time.tsx";

const t = defineTexts({
  again: ["Publish another event", "Weiteres Ereignis veröffentlichen"],
  noTenant: [
    "Every event belongs to a tenant, and there is none yet. Add an endpoint first.",
    "Jedes Ereignis gehört zu einem Mandanten, und es gibt noch keinen. Fügen Sie zuerst einen Endpunkt hinzu.",
  ],
  sent: ["was published for", "wurde veröffentlicht für"],
  command: ["From a terminal or your application:", "Aus einem Terminal oder Ihrer Anwendung:"],
  key: [
    "POSTHORN_API_KEY is the admin key, printed at the first start, or",
    "POSTHORN_API_KEY ist der Admin-Schlüssel, der beim ersten Start ausgegeben wurde, oder",
  ],
  ownKey: ["an API key", "ein API-Schlüssel"],
  scope: ["with the scope events:publish.", "mit der Berechtigung events:publish."],
  tenant: [
    "The event belongs to the tenant {id}. Each of your customers is a tenant.",
    "Das Ereignis gehört zum Mandanten {id}. Jeder Ihrer Kunden ist ein Mandant.",
  ],
});

export function SendEvent({
  tenant,
  example,
  sent,
}: {
  /** Null if there is none yet. */
  readonly tenant: string | null;
  readonly example: Example;
  readonly sent: Event | null;
}) {
  const { isBusy, problems, submit } = useSubmission();
  const send = () =>
    submit(async () => tenant && (await api.events.publish({ body: { tenant, ...example } })));
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
          disabledReason={tenant === null ? t.noTenant : undefined}
          onClick={() => void send()}
        >
          {sent === null ? t.publishEvent : t.again}
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
            {t.scope} {t.tenant({ id: tenant })}
          </p>
        </div>
      )}
    </>
  );
}
