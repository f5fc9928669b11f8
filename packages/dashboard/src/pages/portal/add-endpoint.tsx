// Adds an endpoint in three steps: URL, event types and a test event.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { api } from "../../api/client.ts";
import { useSubmission } from "../../api/problems.ts";
import { useTenant } from "../../api/session.ts";
import { useWatchedDelivery } from "../../api/watched-delivery.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Arrival } from "../../components/delivery/arrival.tsx";
import { fieldsIn } from "../../components/endpoint/form/form-parts.ts";
import { FoldedSettings, SHOWN_AT } from "../../components/endpoint/form/settings-form.tsx";
import { NewSecret } from "../../components/endpoint/new-secret.tsx";
import { Button, buttonClass } from "../../components/ui/button.tsx";
import { TextField, Tick } from "../../components/ui/field.tsx";
import { Page, Panel } from "../../components/ui/panel.tsx";
import { ProblemList } from "../../components/ui/problem-list.tsx";
import { Failed, Loading } from "../../components/ui/states.tsx";
import { changesIn, EMPTY_FORM, type EndpointForm, linesOf } from "../../format/endpoint-form.ts";

const texts = defineTexts({
  en: {
    title: "Add endpoint",
    where: "1. Receiver",
    url: "URL",
    urlHint: "Must accept POST and be reachable from the internet over https.",
    description: "Description",
    which: "2. Event types",
    every: "All event types, including future ones",
    noTypes: "No event types are listed yet. The endpoint receives all events.",
    more: "More settings",
    moreHint: "Optional. You can change them later.",
    make: "Add endpoint",
    chooseFirst: "Choose at least one event type.",
    secretTitle: "Secret",
    secretHint:
      "Your receiver uses it to verify that requests come from us. It is shown only once; you can rotate it at any time.",
    test: "3. Test",
    send: "Send test event",
    again: "Send another test event",
    arrived: "Delivered. Your endpoint is set up.",
    done: "Open endpoint",
  },
  de: {
    title: "Endpunkt hinzufügen",
    where: "1. Empfänger",
    url: "URL",
    urlHint: "Muss POST akzeptieren und aus dem Internet über https erreichbar sein.",
    description: "Beschreibung",
    which: "2. Ereignistypen",
    every: "Alle Ereignistypen, auch künftige",
    noTypes: "Es sind noch keine Ereignistypen aufgeführt. Der Endpunkt erhält alle Ereignisse.",
    more: "Weitere Einstellungen",
    moreHint: "Optional. Sie können später geändert werden.",
    make: "Endpunkt hinzufügen",
    chooseFirst: "Wählen Sie mindestens einen Ereignistyp.",
    secretTitle: "Secret",
    secretHint:
      "Damit prüft Ihr Empfänger, dass Anfragen von uns kommen. Es wird nur einmal angezeigt und kann jederzeit rotiert werden.",
    test: "3. Test",
    send: "Testereignis senden",
    again: "Weiteres Testereignis senden",
    arrived: "Zugestellt. Ihr Endpunkt ist eingerichtet.",
    done: "Endpunkt öffnen",
  },
});

interface Made {
  readonly id: string;
  readonly secret: string;
}

export function AddEndpoint() {
  const t = useTexts(texts);
  const [made, setCreated] = useState<Made | null>(null);
  return (
    <Page title={t.title}>{made === null ? <Choose onCreated={setCreated} /> : <TryIt made={made} />}</Page>
  );
}

type NewEndpointInput = Parameters<typeof api.endpoints.create>[0]["body"];
const BEGUN: EndpointForm = { ...EMPTY_FORM, url: "https://", events: "*" };

function Choose({ onCreated }: { readonly onCreated: (made: Made) => void }) {
  const t = useTexts(texts);
  const tenant = useTenant();
  const queries = useQueryClient();
  const [form, setForm] = useState(BEGUN);
  const { isBusy, problems, submit } = useSubmission();
  const types = useQuery({
    queryKey: ["event-types", "to choose from"],
    queryFn: ({ signal }) => api.eventTypes.list({ query: { limit: 250 }, signal }),
  });
  if (types.isPending) return <Loading />;
  if (types.error !== null) return <Failed error={types.error} onRetry={() => void types.refetch()} />;
  const chosen = new Set(linesOf(form.events));
  const parts = { form, before: EMPTY_FORM, onChange: setForm, problems, isNew: true };
  const field = fieldsIn(parts);
  const make = (event: FormEvent) => {
    event.preventDefault();
    return submit(async () => {
      const body = { url: "", events: [], ...changesIn(form, EMPTY_FORM) } as NewEndpointInput;
      const { id, secret } = await api.endpoints.create({ tenant, body });
      await queries.invalidateQueries({ queryKey: ["endpoints"] });
      onCreated({ id, secret });
    });
  };
  const toggle = (name: string, isOn: boolean) => {
    // "all" and single types exclude each other
    const next = new Set(name === "*" ? [] : chosen);
    next.delete("*");
    if (isOn) next.add(name);
    else next.delete(name);
    setForm({ ...form, events: [...next].join("\n") });
  };
  return (
    <form onSubmit={(event) => void make(event)} className="flex flex-col gap-4" noValidate>
      <ProblemList problems={problems.elsewhere(SHOWN_AT)} />
      <Panel title={t.where}>
        <div className="flex flex-col gap-3">
          <TextField label={t.url} hint={t.urlHint} type="url" required {...field("url", "/url")} />
          <TextField label={t.description} maxLength={500} {...field("description", "/description")} />
        </div>
      </Panel>
      <Panel title={t.which}>
        <fieldset className="flex min-w-0 flex-col gap-2">
          <legend className="sr-only">{t.which}</legend>
          <Tick
            label={t.every}
            checked={chosen.has("*")}
            onChange={(event) => toggle("*", event.target.checked)}
          />
          {types.data.data.map(({ name, description: about }) => (
            <Tick
              key={name}
              label={name}
              hint={about}
              checked={chosen.has(name)}
              onChange={(event) => toggle(name, event.target.checked)}
            />
          ))}
          {types.data.data.length === 0 && <p className="text-muted">{t.noTypes}</p>}
          {problems.at("/events") !== undefined && (
            <p className="text-xs text-bad">{problems.at("/events")}</p>
          )}
        </fieldset>
      </Panel>
      <Panel title={t.more}>
        <p className="pb-2 text-muted">{t.moreHint}</p>
        <FoldedSettings {...parts} />
      </Panel>
      <div>
        <Button
          kind="primary"
          type="submit"
          isBusy={isBusy}
          disabledReason={chosen.size === 0 ? t.chooseFirst : undefined}
        >
          {t.make}
        </Button>
      </div>
    </form>
  );
}

function TryIt({ made }: { readonly made: Made }) {
  const t = useTexts(texts);
  const tenant = useTenant();
  const [delivery, setDelivery] = useState<string | null>(null);
  const hasArrived = useWatchedDelivery(delivery).data?.state === "success";
  const { isBusy, submit } = useSubmission();
  const send = () =>
    submit(async () => {
      setDelivery((await api.endpoints.test({ tenant, endpoint: made.id })).delivery_id);
    });
  return (
    <>
      <Panel title={t.secretTitle}>
        <NewSecret endpoint={made.id} secret={made.secret} hint={t.secretHint} />
      </Panel>
      <Panel title={t.test}>
        <Arrival delivery={delivery} arrived={t.arrived} />
        <div className="flex gap-2 pt-3">
          <Button
            kind={hasArrived ? "plain" : "primary"}
            icon="send"
            isBusy={isBusy}
            onClick={() => void send()}
          >
            {delivery === null ? t.send : t.again}
          </Button>
          <Link
            to="/endpoints/$id"
            params={{ id: made.id }}
            className={buttonClass(hasArrived ? "primary" : "plain")}
          >
            {t.done}
          </Link>
        </div>
      </Panel>
    </>
  );
}
