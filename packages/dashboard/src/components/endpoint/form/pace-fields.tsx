// Form fields for limits, retries and ordering.
import { useId } from "react";
import { defineTexts, useTexts } from "../../../app/texts.ts";
import { FIFO_ON_DEAD, ORDERINGS, RETRY_ON, RETRY_PRESETS } from "../../../format/endpoint-form.ts";
import { Choice, TextField } from "../../ui/field.tsx";
import { FormGroup, Options } from "./form-group.tsx";
import { type FormParts, fieldsIn } from "./form-parts.ts";

const texts = defineTexts({
  en: {
    pace: "Limits",
    timeout: "Timeout in ms",
    inFlight: "Concurrent attempts",
    rate: "Attempts per second",
    rateHint: "Empty for no limit.",
    retries: "Retries",
    policy: "Retry policy",
    policyHint: "courier, short, exponential, quick, gaps such as 30s, 5m, 1h, or JSON.",
    retryOn: "Retry on",
    retryOns: { transient: "408, 429, 5xx and no response", every: "everything except 2xx and 410" },
    order: "Ordering",
    ordering: "Ordering",
    orderings: { none: "none", fifo: "fifo: events of a subject in sequence" },
    onDead: "When a delivery of a subject is dead",
    onDeads: { pass: "continue with the next one", hold: "hold the subject" },
    usual: "deployment default",
    usualHint: "Empty uses the deployment default.",
    atATime: (count: string) => `${count} concurrent`,
    aSecond: (count: string) => `${count} per second`,
  },
  de: {
    pace: "Limits",
    timeout: "Timeout in ms",
    inFlight: "Gleichzeitige Versuche",
    rate: "Versuche pro Sekunde",
    rateHint: "Leer: kein Limit.",
    retries: "Erneute Versuche",
    policy: "Retry-Richtlinie",
    policyHint: "courier, short, exponential, quick, Abstände wie 30s, 5m, 1h oder JSON.",
    retryOn: "Erneut versuchen bei",
    retryOns: { transient: "408, 429, 5xx und fehlender Antwort", every: "allem außer 2xx und 410" },
    order: "Reihenfolge",
    ordering: "Reihenfolge",
    orderings: { none: "keine", fifo: "fifo: Ereignisse eines Subjects der Reihe nach" },
    onDead: "Bei fehlgeschlagener Zustellung eines Subjects",
    onDeads: { pass: "mit der nächsten fortfahren", hold: "das Subject anhalten" },
    usual: "Standard der Installation",
    usualHint: "Leer: Standard der Installation.",
    atATime: (count: string) => `${count} gleichzeitig`,
    aSecond: (count: string) => `${count} pro Sekunde`,
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
