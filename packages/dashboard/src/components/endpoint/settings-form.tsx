// Every setting of an endpoint, for a new one and for changes; what the server refuses stands at its field.
import type { FormEvent, ReactNode } from "react";
import { defineTexts, useTexts } from "../../app/texts.ts";
import {
  type EndpointForm,
  FIFO_ON_DEAD,
  FORMATS,
  ORDERINGS,
  RETRY_ON,
  RETRY_PRESETS,
  SCHEMES,
} from "../../format/endpoint-form.ts";
import type { Problems } from "../../format/problems.ts";
import { Choice, TextArea, TextField, Tick } from "../field.tsx";
import { ProblemList } from "../problem-list.tsx";

const texts = defineTexts({
  en: {
    url: "URL",
    description: "Description",
    descriptionHint: "What it is for.",
    events: "Events",
    eventsHint: "One a line: an exact type, a prefix such as order.*, or * for all.",
    sending: "What is sent",
    format: "Body",
    formats: {
      envelope: "envelope: the data with id, type and time",
      data: "data: the bare data",
      thin: "thin: id, type and subject alone",
      cloudevents: "cloudevents: a CloudEvent in one JSON document",
      "cloudevents-binary": "cloudevents-binary: the data, its attributes in headers",
      "cloudevents-thin": "cloudevents-thin: a CloudEvent that says where its data is",
      "cloudevents-batch": "cloudevents-batch: many CloudEvents in one request",
    },
    headers: "Headers besides",
    headersHint: "Name: value, one a line.",
    signature: "Signature",
    schemes: "Schemes",
    prefix: "Names of headers begin with",
    secret: "Secret",
    secretHint: "Your own, whsec_… or whsk_…. Left empty: one is made.",
    pace: "Pace",
    timeout: "Timeout in ms",
    inFlight: "Attempts at a time",
    rate: "Attempts a second",
    rateHint: "Empty: no limit.",
    retries: "Retries",
    policy: "When it is tried again",
    policyHint: "courier, short, exponential, quick, gaps such as 30s, 5m, 1h, or JSON.",
    retryOn: "After which answers",
    retryOns: { transient: "408, 429, 5xx and none at all", every: "all but 2xx and 410" },
    order: "Order",
    ordering: "Order",
    orderings: { none: "none", fifo: "fifo: the events of a subject one by one" },
    onDead: "A dead delivery in its subject",
    onDeads: { pass: "lets the others pass", hold: "holds them up" },
    usual: "as the deployment is set",
    usualHint: "Left empty: as the deployment is set.",
  },
  de: {
    url: "URL",
    description: "Beschreibung",
    descriptionHint: "Wofür er ist.",
    events: "Ereignisse",
    eventsHint: "Eines je Zeile: ein genauer Typ, ein Anfang wie order.* oder * für alle.",
    sending: "Was gesendet wird",
    format: "Inhalt",
    formats: {
      envelope: "envelope: die Daten mit Id, Typ und Zeit",
      data: "data: die bloßen Daten",
      thin: "thin: nur Id, Typ und Gegenstand",
      cloudevents: "cloudevents: ein CloudEvent in einem JSON-Dokument",
      "cloudevents-binary": "cloudevents-binary: die Daten, ihre Attribute in Kopfzeilen",
      "cloudevents-thin": "cloudevents-thin: ein CloudEvent, das sagt, wo seine Daten sind",
      "cloudevents-batch": "cloudevents-batch: viele CloudEvents in einer Anfrage",
    },
    headers: "Weitere Header",
    headersHint: "Name: Wert, einer je Zeile.",
    signature: "Signatur",
    schemes: "Verfahren",
    prefix: "Namen der Header beginnen mit",
    secret: "Geheimnis",
    secretHint: "Ein eigenes, whsec_… oder whsk_…. Leer: es wird eines erzeugt.",
    pace: "Tempo",
    timeout: "Zeitgrenze in ms",
    inFlight: "Versuche zugleich",
    rate: "Versuche je Sekunde",
    rateHint: "Leer: ohne Grenze.",
    retries: "Neue Versuche",
    policy: "Wann neu versucht wird",
    policyHint: "courier, short, exponential, quick, Abstände wie 30s, 5m, 1h oder JSON.",
    retryOn: "Nach welchen Antworten",
    retryOns: { transient: "408, 429, 5xx und gar keiner", every: "allen außer 2xx und 410" },
    order: "Reihenfolge",
    ordering: "Reihenfolge",
    orderings: { none: "keine", fifo: "fifo: die Ereignisse eines Gegenstands nacheinander" },
    onDead: "Eine aufgegebene Zustellung",
    onDeads: { pass: "lässt die übrigen vorbei", hold: "hält die übrigen auf" },
    usual: "wie die Installation",
    usualHint: "Leer: wie die Installation.",
  },
});

const POINTERS = [
  "/url",
  "/description",
  "/events",
  "/format",
  "/headers",
  "/signature",
  "/secret",
  "/timeout_ms",
  "/max_in_flight",
  "/rate_limit",
  "/retry_policy",
  "/retry_on",
  "/ordering",
  "/fifo_on_dead",
];

export function SettingsForm({
  id,
  form,
  onChange,
  onSubmit,
  problems,
  isNew = false,
}: {
  /** For a button outside of it to submit it. */
  readonly id: string;
  readonly form: EndpointForm;
  readonly onChange: (form: EndpointForm) => void;
  readonly onSubmit: () => void;
  readonly problems: Problems;
  readonly isNew?: boolean;
}) {
  const t = useTexts(texts);
  const field = (name: Exclude<keyof EndpointForm, "schemes">, pointer: string) => ({
    value: form[name],
    problem: problems.at(pointer),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange({ ...form, [name]: event.target.value }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  const options = <Name extends string>(names: readonly Name[], words: Readonly<Record<Name, string>>) => (
    <>
      <option value="">{t.usual}</option>
      {names.map((name) => (
        <option key={name} value={name}>
          {words[name]}
        </option>
      ))}
    </>
  );
  return (
    <form id={id} onSubmit={submit} className="flex flex-col gap-5" noValidate>
      <ProblemList problems={problems.elsewhere(POINTERS)} />
      <div className="flex flex-col gap-3">
        <TextField label={t.url} type="url" required className="font-mono" {...field("url", "/url")} />
        <TextField label={t.description} hint={t.descriptionHint} {...field("description", "/description")} />
        <TextArea label={t.events} hint={t.eventsHint} rows={3} required {...field("events", "/events")} />
      </div>
      <Group title={t.sending}>
        <Choice label={t.format} {...field("format", "/format")}>
          {options(FORMATS, t.formats)}
        </Choice>
        <TextArea label={t.headers} hint={t.headersHint} rows={2} {...field("headers", "/headers")} />
      </Group>
      <Group title={t.signature}>
        <Schemes
          label={t.schemes}
          chosen={form.schemes}
          problem={problems.at("/signature/schemes")}
          onChange={(schemes) => onChange({ ...form, schemes })}
        />
        <TextField
          label={t.prefix}
          hint={t.usualHint}
          {...field("headerPrefix", "/signature/header_prefix")}
        />
        {isNew && (
          <TextField
            label={t.secret}
            hint={t.secretHint}
            autoComplete="off"
            {...field("secret", "/secret")}
          />
        )}
      </Group>
      <Group title={t.pace}>
        <TextField
          label={t.timeout}
          hint={t.usualHint}
          inputMode="numeric"
          {...field("timeoutMs", "/timeout_ms")}
        />
        <TextField
          label={t.inFlight}
          hint={t.usualHint}
          inputMode="numeric"
          {...field("maxInFlight", "/max_in_flight")}
        />
        <TextField
          label={t.rate}
          hint={t.rateHint}
          inputMode="numeric"
          {...field("rateLimit", "/rate_limit")}
        />
      </Group>
      <Group title={t.retries}>
        <TextField
          label={t.policy}
          hint={t.policyHint}
          list={`${id}-presets`}
          className="font-mono"
          {...field("retryPolicy", "/retry_policy")}
        />
        <datalist id={`${id}-presets`}>
          {RETRY_PRESETS.map((preset) => (
            <option key={preset} value={preset} />
          ))}
        </datalist>
        <Choice label={t.retryOn} {...field("retryOn", "/retry_on")}>
          {options(RETRY_ON, t.retryOns)}
        </Choice>
      </Group>
      <Group title={t.order}>
        <Choice label={t.ordering} {...field("ordering", "/ordering")}>
          {options(ORDERINGS, t.orderings)}
        </Choice>
        <Choice label={t.onDead} {...field("fifoOnDead", "/fifo_on_dead")}>
          {options(FIFO_ON_DEAD, t.onDeads)}
        </Choice>
      </Group>
      <button type="submit" hidden />
    </form>
  );
}

function Group({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <fieldset className="grid min-w-0 gap-3 border-t border-line pt-3 sm:grid-cols-2">
      <legend className="pr-2 font-semibold">{title}</legend>
      {children}
    </fieldset>
  );
}

function Schemes({
  label,
  chosen,
  problem,
  onChange,
}: {
  readonly label: string;
  readonly chosen: readonly string[];
  readonly problem: string | undefined;
  readonly onChange: (schemes: readonly string[]) => void;
}) {
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="pb-1 text-sm font-medium">{label}</legend>
      {SCHEMES.map((scheme) => (
        <Tick
          key={scheme}
          label={scheme}
          checked={chosen.includes(scheme)}
          onChange={(event) =>
            onChange(event.target.checked ? [...chosen, scheme] : chosen.filter((other) => other !== scheme))
          }
        />
      ))}
      {problem !== undefined && <p className="text-xs text-bad">{problem}</p>}
    </fieldset>
  );
}
