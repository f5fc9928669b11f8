// How fast, how often and in what order: the pace, the retries, and the order of a subject's events.
import { useId } from "react";
import { defineTexts, useTexts } from "../../../app/texts.ts";
import { FIFO_ON_DEAD, ORDERINGS, RETRY_ON, RETRY_PRESETS } from "../../../format/endpoint-form.ts";
import { Choice, TextField } from "../../ui/field.tsx";
import { FormGroup, Options } from "./form-group.tsx";
import { type FormParts, fieldsIn } from "./form-parts.ts";

const texts = defineTexts({
  en: {
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
    atATime: (count: string) => `${count} at a time`,
    aSecond: (count: string) => `${count} a second`,
  },
  de: {
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
    atATime: (count: string) => `${count} zugleich`,
    aSecond: (count: string) => `${count} je Sekunde`,
  },
});

export function PaceFields(parts: FormParts) {
  const t = useTexts(texts);
  const { form, problems } = parts;
  const field = fieldsIn(parts);
  const presets = useId();
  const pace = [
    form.timeoutMs === "" ? "" : `${form.timeoutMs} ms`,
    form.maxInFlight === "" ? "" : t.atATime(form.maxInFlight),
    form.rateLimit === "" ? "" : t.aSecond(form.rateLimit),
  ].filter(Boolean);
  return (
    <>
      <FormGroup
        title={t.pace}
        summary={pace.length === 0 ? t.usual : pace.join(", ")}
        hasProblem={problems.isAnyAt(["/timeout_ms", "/max_in_flight", "/rate_limit"])}
      >
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
      </FormGroup>
      <FormGroup
        title={t.retries}
        summary={form.retryPolicy === "" ? t.usual : form.retryPolicy}
        hasProblem={problems.isAnyAt(["/retry_policy", "/retry_on"])}
      >
        <TextField
          label={t.policy}
          hint={t.policyHint}
          list={presets}
          className="font-mono"
          {...field("retryPolicy", "/retry_policy")}
        />
        <datalist id={presets}>
          {RETRY_PRESETS.map((preset) => (
            <option key={preset} value={preset} />
          ))}
        </datalist>
        <Choice label={t.retryOn} {...field("retryOn", "/retry_on")}>
          <Options none={t.usual} names={RETRY_ON} words={t.retryOns} />
        </Choice>
      </FormGroup>
      <FormGroup
        title={t.order}
        summary={form.ordering === "" ? t.usual : t.orderings[form.ordering as "none" | "fifo"]}
        hasProblem={problems.isAnyAt(["/ordering", "/fifo_on_dead"])}
      >
        <Choice label={t.ordering} {...field("ordering", "/ordering")}>
          <Options none={t.usual} names={ORDERINGS} words={t.orderings} />
        </Choice>
        <Choice label={t.onDead} {...field("fifoOnDead", "/fifo_on_dead")}>
          <Options none={t.usual} names={FIFO_ON_DEAD} words={t.onDeads} />
        </Choice>
      </FormGroup>
    </>
  );
}
