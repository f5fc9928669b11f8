// Adds an endpoint in three steps: URL, event types and a test event.
import { useState } from "react";
import { api } from "../../api/client.ts";
import { useWatchedDelivery } from "../../api/deliveries.ts";
import { useTenant } from "../../api/session.ts";
import { useApi } from "../../api/use-api.ts";
import { defineTexts } from "../../app/texts.ts";
import { Arrival } from "../../components/delivery/arrival.tsx";
import { SettingField } from "../../components/endpoint/form/setting-fields.tsx";
import { FoldedSettings, SHOWN_AT } from "../../components/endpoint/form/settings-form.tsx";
import { NewSecret } from "../../components/endpoint/new-secret.tsx";
import { UrlWarningList, type UrlWarnings } from "../../components/endpoint/url-warnings.tsx";
import { ActionButton } from "../../components/ui/action-button.tsx";
import { Button, buttonClass } from "../../components/ui/button.tsx";
import { ProblemList, submitted, TextField, Tick, useForm } from "../../components/ui/field.tsx";
import { EndpointLink } from "../../components/ui/links.tsx";
import { NotLoaded, Page, Panel } from "../../components/ui/page.tsx";
import { changesIn, EMPTY_FORM, type EndpointForm, linesOf } from "../../format/endpoint-form.ts";

const t = defineTexts({
  where: ["1. Receiver", "1. Empfänger"],
  urlHint: [
    "Must accept POST and be reachable from the internet over https.",
    "Muss POST akzeptieren und aus dem Internet über https erreichbar sein.",
  ],
  which: ["2. Event types", "2. Ereignistypen"],
  every: ["All event types, including future ones", "Alle Ereignistypen, auch künftige"],
  noTypes: [
    "No event types are listed yet. The endpoint receives all events.",
    "Es sind noch keine Ereignistypen aufgeführt. Der Endpunkt erhält alle Ereignisse.",
  ],
  more: ["More settings", "Weitere Einstellungen"],
  moreHint: ["Optional. You can change them later.", "Optional. Sie können später geändert werden."],
  chooseFirst: ["Choose at least one event type.", "Wählen Sie mindestens einen Ereignistyp."],
  secretHint: [
    "Your receiver uses it to verify that requests come from us. It is shown only once; you can rotate it at any time.",
    "Damit prüft Ihr Empfänger, dass Anfragen von uns kommen. Es wird nur einmal angezeigt und kann jederzeit rotiert werden.",
  ],
  test: "3. Test",
});

interface Made {
  readonly id: string;
  readonly secret: string;
  readonly warnings: UrlWarnings;
}

export function AddEndpoint() {
  const [made, setCreated] = useState<Made | null>(null);
  return (
    <Page title={t.addEndpoint}>
      {made === null ? <Choose onCreated={setCreated} /> : <TryIt made={made} />}
    </Page>
  );
}

type NewEndpointInput = Parameters<typeof api.endpoints.create>[0]["body"];
const BEGUN: EndpointForm = { ...EMPTY_FORM, url: "https://", events: "*" };

function Choose({ onCreated }: { readonly onCreated: (made: Made) => void }) {
  const tenant = useTenant();
  const { form, setForm, field, isBusy, problems, submit } = useForm(BEGUN);
  const types = useApi("eventTypes.list", { query: { limit: 250 } });
  if (types.isPending || types.error !== null) return <NotLoaded query={types} />;
  const chosen = new Set(linesOf(form.events));
  const parts = { form, before: EMPTY_FORM, onChange: setForm, problems, isNew: true };
  const make = async () => {
    const body = { url: "", events: [], ...changesIn(form, EMPTY_FORM) } as NewEndpointInput;
    onCreated(await api.endpoints.create({ tenant, body }));
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
    <form onSubmit={submitted(() => submit(make))} className="flex flex-col gap-4" noValidate>
      <ProblemList problems={problems.elsewhere(SHOWN_AT)} />
      <Panel title={t.where}>
        <div className="flex flex-col gap-3">
          <TextField label={t.url} hint={t.urlHint} type="url" required {...field("url")} />
          <SettingField name="name" {...parts} />
          <SettingField name="description" {...parts} />
        </div>
      </Panel>
      <Panel title={t.which}>
        <fieldset className="flex min-w-0 flex-col gap-2">
          <legend className="sr-only">{t.which}</legend>
          <Tick label={t.every} checked={chosen.has("*")} onChange={(isOn) => toggle("*", isOn)} />
          {types.data.data.map(({ name, description: about }) => (
            <Tick
              key={name}
              label={name}
              hint={about}
              checked={chosen.has(name)}
              onChange={(isOn) => toggle(name, isOn)}
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
          {t.addEndpoint}
        </Button>
      </div>
    </form>
  );
}

function TryIt({ made }: { readonly made: Made }) {
  const tenant = useTenant();
  const [delivery, setDelivery] = useState<string | null>(null);
  const hasArrived = useWatchedDelivery(delivery).data?.state === "success";
  const send = async () => setDelivery((await api.endpoints.test({ tenant, endpoint: made.id })).delivery_id);
  return (
    <>
      <UrlWarningList warnings={made.warnings} />
      <Panel title={t.secret}>
        <NewSecret endpoint={made.id} secret={made.secret} hint={t.secretHint} />
      </Panel>
      <Panel title={t.test}>
        <Arrival delivery={delivery} arrived={t.endpointIsSetUp} />
        <div className="flex gap-2 pt-3">
          <ActionButton kind={hasArrived ? "plain" : "primary"} icon="send" action={send}>
            {delivery === null ? t.sendTestEvent : t.sendAnotherTestEvent}
          </ActionButton>
          <EndpointLink
            tenant={tenant}
            id={made.id}
            className={buttonClass(hasArrived ? "primary" : "plain")}
          >
            {t.openEndpoint}
          </EndpointLink>
        </div>
      </Panel>
    </>
  );
}
