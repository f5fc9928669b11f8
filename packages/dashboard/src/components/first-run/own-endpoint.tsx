// Adds the user's own endpoint and sends a test event to it.
import type { Delivery, Endpoint } from "@posthorn/client";
import { useState } from "react";
import { api } from "../../api/client.ts";
import { defineTexts } from "../../app/texts.ts";
import { Arrival } from "../delivery/arrival.tsx";
import { NewSecret } from "../endpoint/new-secret.tsx";
import { UrlWarningList, type UrlWarnings } from "../endpoint/url-warnings.tsx";
import { ActionButton } from "../ui/action-button.tsx";
import { Button } from "../ui/button.tsx";
import { ProblemList, submitted, TextField, useForm } from "../ui/field.tsx";
import { EndpointLink } from "../ui/links.tsx";

const t = defineTexts({
  hint: [
    "The URL at which your application receives webhooks. It is subscribed to all events; you can change this later.",
    "Die URL, unter der Ihre Anwendung Webhooks empfängt. Alle Ereignisse werden abonniert; das lässt sich später ändern.",
  ],
  tenantHint: [
    "The id of the customer that owns the endpoint. A new tenant is created if needed.",
    "Die ID des Kunden, dem der Endpunkt gehört. Bei Bedarf wird ein neuer Mandant angelegt.",
  ],
  urlHint: [
    "Must accept POST. In production it must use https and be reachable from the internet.",
    "Muss POST akzeptieren. Im Produktivbetrieb muss sie https verwenden und aus dem Internet erreichbar sein.",
  ],
  of: ["of", "von"],
});

interface Added {
  readonly secret: string;
  readonly warnings: UrlWarnings;
}

export function OwnEndpoint({
  tenant,
  own,
  newest,
}: {
  readonly tenant: string | null;
  readonly own: Endpoint | null;
  readonly newest: Delivery | null;
}) {
  const [added, setAdded] = useState<Added | null>(null);
  if (own === null) {
    return (
      <>
        <p className="text-muted">{t.hint}</p>
        <AddEndpoint tenant={tenant} onAdded={setAdded} />
      </>
    );
  }
  return (
    <>
      <p className="break-all">
        <EndpointLink tenant={own.tenant} id={own.id} className="font-mono text-xs underline">
          {own.url}
        </EndpointLink>{" "}
        {t.of} {own.tenant}
      </p>
      {added !== null && (
        <div className="flex flex-col gap-1">
          <UrlWarningList warnings={added.warnings} />
          <h3 className="font-medium">{t.secret}</h3>
          <NewSecret endpoint={own.id} secret={added.secret} />
        </div>
      )}
      <Arrival delivery={newest?.id ?? null} arrived={t.endpointIsSetUp} />
      <div>
        <ActionButton
          kind={newest === null ? "primary" : "plain"}
          icon="send"
          disabledReason={own.is_active ? undefined : t.enableFirst}
          action={() => api.endpoints.test({ tenant: own.tenant, endpoint: own.id })}
        >
          {newest === null ? t.sendTestEvent : t.sendAnotherTestEvent}
        </ActionButton>
      </div>
    </>
  );
}

function AddEndpoint({
  tenant: known,
  onAdded,
}: {
  readonly tenant: string | null;
  readonly onAdded: (added: Added) => void;
}) {
  const { form, field, isBusy, problems, submit } = useForm({ id: known ?? "", url: "" });
  const add = async () => {
    const tenant = form.id.trim();
    if (tenant !== known) await api.tenants.put({ tenant });
    const body = { url: form.url.trim(), events: ["*"] };
    onAdded(await api.endpoints.create({ tenant, body }));
  };
  return (
    <form onSubmit={submitted(() => submit(add))} className="flex flex-col gap-3">
      <ProblemList problems={problems.elsewhere(["/url", "/id"])} />
      <div className="grid gap-3 sm:grid-cols-[12rem_1fr]">
        <TextField
          label={t.tenant}
          hint={t.tenantHint}
          required
          maxLength={128}
          placeholder="acme"
          {...field("id")}
        />
        <TextField
          label={t.url}
          hint={t.urlHint}
          type="url"
          required
          placeholder="https://example.com/webhooks"
          {...field("url")}
        />
      </div>
      <div>
        <Button kind="primary" icon="plus" type="submit" isBusy={isBusy}>
          {t.addEndpoint}
        </Button>
      </div>
    </form>
  );
}
