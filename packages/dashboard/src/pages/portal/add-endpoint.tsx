// A new endpoint in three steps: where it is, which events it wants, and a test that has to arrive.
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
import { SecretOnce } from "../../components/endpoint/secret-once.tsx";
import { Button, buttonClass } from "../../components/ui/button.tsx";
import { TextField, Tick } from "../../components/ui/field.tsx";
import { Page, Panel } from "../../components/ui/panel.tsx";
import { ProblemList } from "../../components/ui/problem-list.tsx";
import { Failed, Loading } from "../../components/ui/states.tsx";
import { changesIn, EMPTY_FORM, type EndpointForm, linesOf } from "../../format/endpoint-form.ts";

const texts = defineTexts({
  en: {
    title: "Add endpoint",
    where: "1. Where is your receiver?",
    url: "URL",
    urlHint: "It must take POST and be reachable from the internet by https.",
    description: "What it is for",
    which: "2. Which events do you want?",
    every: "All events, also those that come later",
    noTypes: "There is no list of events yet: you get all of them.",
    more: "More settings",
    moreHint: "All of them can stay as they are, and be changed later.",
    make: "Add it",
    chooseFirst: "Choose at least one event.",
    secretTitle: "Your secret",
    secretHint:
      "Your receiver verifies with it that requests come from us. It is shown this once; a new one can be made at any time.",
    test: "3. Does it arrive?",
    send: "Send a test event",
    again: "Send another one",
    arrived: "It arrived. You are set up.",
    done: "To the endpoint",
  },
  de: {
    title: "Endpunkt hinzufügen",
    where: "1. Wo ist Ihr Empfänger?",
    url: "URL",
    urlHint: "Er muss POST annehmen und aus dem Internet über https erreichbar sein.",
    description: "Wofür er ist",
    which: "2. Welche Ereignisse wollen Sie?",
    every: "Alle Ereignisse, auch künftige",
    noTypes: "Es gibt noch keine Liste der Ereignisse: Sie bekommen alle.",
    more: "Weitere Einstellungen",
    moreHint: "Sie können alle bleiben, wie sie sind, und später geändert werden.",
    make: "Hinzufügen",
    chooseFirst: "Mindestens ein Ereignis wählen.",
    secretTitle: "Ihr Geheimnis",
    secretHint:
      "Damit prüft Ihr Empfänger, dass Anfragen von uns kommen. Es wird nur dieses eine Mal gezeigt; ein neues gibt es jederzeit.",
    test: "3. Kommt es an?",
    send: "Testereignis senden",
    again: "Noch eines senden",
    arrived: "Es kam an. Alles ist bereit.",
    done: "Zum Endpunkt",
  },
});

interface Made {
  readonly id: string;
  readonly secret: string;
}

export function AddEndpoint() {
  const t = useTexts(texts);
  const [made, setMade] = useState<Made | null>(null);
  return <Page title={t.title}>{made === null ? <Choose onMade={setMade} /> : <TryIt made={made} />}</Page>;
}

type NewEndpointInput = Parameters<typeof api.endpoints.create>[0]["body"];
const BEGUN: EndpointForm = { ...EMPTY_FORM, url: "https://", events: "*" };

function Choose({ onMade }: { readonly onMade: (made: Made) => void }) {
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
      onMade({ id, secret });
    });
  };
  const toggle = (name: string, isOn: boolean) => {
    // all of them, or some: whoever ticks one has said that it is not all
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
          refusedBecause={chosen.size === 0 ? t.chooseFirst : undefined}
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
        <SecretOnce endpoint={made.id} secret={made.secret} hint={t.secretHint} />
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
