// Adds the user's own endpoint and sends a test event to it.
import type { Delivery, Endpoint } from "@posthorn/client";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { useSubmission } from "../../api/problems.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Arrival } from "../delivery/arrival.tsx";
import { NewSecret } from "../endpoint/new-secret.tsx";
import { Button } from "../ui/button.tsx";
import { TextField } from "../ui/field.tsx";
import { ProblemList } from "../ui/problem-list.tsx";

const texts = defineTexts({
  en: {
    hint: "The URL at which your application receives webhooks. It is subscribed to all events; you can change this later.",
    tenant: "Tenant",
    tenantHint: "The id of the customer that owns the endpoint. A new tenant is created if needed.",
    url: "URL",
    urlHint: "Must accept POST. In production it must use https and be reachable from the internet.",
    add: "Add endpoint",
    secret: "Secret",
    test: "Send test event",
    again: "Send another test event",
    of: "of",
    arrived: "Delivered. Your endpoint is set up.",
    disabled: "The endpoint is disabled. Enable it first.",
  },
  de: {
    hint: "Die URL, unter der Ihre Anwendung Webhooks empfängt. Alle Ereignisse werden abonniert; das lässt sich später ändern.",
    tenant: "Mandant",
    tenantHint: "Die ID des Kunden, dem der Endpunkt gehört. Bei Bedarf wird ein neuer Mandant angelegt.",
    url: "URL",
    urlHint:
      "Muss POST akzeptieren. In Produktion sind https und Erreichbarkeit aus dem Internet erforderlich.",
    add: "Endpunkt hinzufügen",
    secret: "Secret",
    test: "Testereignis senden",
    again: "Weiteres Testereignis senden",
    of: "von",
    arrived: "Zugestellt. Ihr Endpunkt ist eingerichtet.",
    disabled: "Der Endpunkt ist deaktiviert. Aktivieren Sie ihn zuerst.",
  },
});

export function OwnEndpoint({
  tenant,
  own,
  newest,
  onChange,
}: {
  readonly tenant: string | null;
  readonly own: Endpoint | null;
  /** The newest delivery to this endpoint. */
  readonly newest: Delivery | null;
  readonly onChange: () => Promise<void>;
}) {
  const t = useTexts(texts);
  const [secret, setSecret] = useState<string | null>(null);
  if (own === null) {
    const added = async (made: string) => {
      setSecret(made);
      await onChange();
    };
    return (
      <>
        <p className="text-muted">{t.hint}</p>
        <AddEndpoint tenant={tenant} onAdded={added} />
      </>
    );
  }
  return (
    <>
      <p className="break-all">
        <Link
          to="/tenants/$tenant/endpoints/$id"
          params={{ tenant: own.tenant, id: own.id }}
          className="font-mono text-xs underline"
        >
          {own.url}
        </Link>{" "}
        {t.of} {own.tenant}
      </p>
      {secret !== null && (
        <div className="flex flex-col gap-1">
          <h3 className="font-medium">{t.secret}</h3>
          <NewSecret endpoint={own.id} secret={secret} />
        </div>
      )}
      <Arrival delivery={newest?.id ?? null} arrived={t.arrived} />
      <SendTest endpoint={own} isFirst={newest === null} onSent={onChange} />
    </>
  );
}

function AddEndpoint({
  tenant: known,
  onAdded,
}: {
  readonly tenant: string | null;
  readonly onAdded: (secret: string) => Promise<void>;
}) {
  const t = useTexts(texts);
  const [tenant, setTenant] = useState(known ?? "");
  const [url, setUrl] = useState("");
  const { isBusy, problems, submit } = useSubmission();
  const add = (event: FormEvent) => {
    event.preventDefault();
    void submit(async () => {
      const of = tenant.trim();
      if (of !== known) await api.tenants.put({ tenant: of });
      const { secret } = await api.endpoints.create({
        tenant: of,
        body: { url: url.trim(), events: ["*"] },
      });
      await onAdded(secret);
    });
  };
  return (
    <form onSubmit={add} className="flex flex-col gap-3">
      <ProblemList problems={problems.elsewhere(["/url", "/id"])} />
      <div className="grid gap-3 sm:grid-cols-[12rem_1fr]">
        <TextField
          label={t.tenant}
          hint={t.tenantHint}
          required
          maxLength={128}
          placeholder="acme"
          value={tenant}
          problem={problems.at("/id")}
          onChange={(event) => setTenant(event.target.value)}
        />
        <TextField
          label={t.url}
          hint={t.urlHint}
          type="url"
          required
          placeholder="https://example.com/webhooks"
          value={url}
          problem={problems.at("/url")}
          onChange={(event) => setUrl(event.target.value)}
        />
      </div>
      <div>
        <Button kind="primary" icon="plus" type="submit" isBusy={isBusy}>
          {t.add}
        </Button>
      </div>
    </form>
  );
}

function SendTest({
  endpoint: { tenant, id, is_active },
  isFirst,
  onSent,
}: {
  readonly endpoint: Endpoint;
  readonly isFirst: boolean;
  readonly onSent: () => Promise<void>;
}) {
  const t = useTexts(texts);
  const { isBusy, submit } = useSubmission();
  const send = () =>
    submit(async () => {
      await api.endpoints.test({ tenant, endpoint: id });
      await onSent();
    });
  return (
    <div>
      <Button
        kind={isFirst ? "primary" : "plain"}
        icon="send"
        isBusy={isBusy}
        disabledReason={is_active ? undefined : t.disabled}
        onClick={() => void send()}
      >
        {isFirst ? t.test : t.again}
      </Button>
    </div>
  );
}
