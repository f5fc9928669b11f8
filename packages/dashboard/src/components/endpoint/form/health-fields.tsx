// Form fields for the reaction to failures: the circuit, and when the endpoint is disabled.
import { defineTexts } from "../../../app/texts.ts";
import { numberFieldsOf } from "../../../format/endpoint-form.ts";
import { FormGroup, type FormParts, NumberSettingField } from "./setting-fields.tsx";

const t = defineTexts({
  title: ["Circuit and disabling", "Circuit und Deaktivierung"],
  opens: ["circuit after {count} failures", "Circuit nach {count} Fehlern"],
  disables: ["disabled after {count} failures", "deaktiviert nach {count} Fehlern"],
});

const NAMES = [...numberFieldsOf("circuitBreaker"), ...numberFieldsOf("disableAfter")];

export function HealthFields(parts: FormParts) {
  const { form, problems } = parts;
  const { circuitFailures: opens, disableAfterFailures: disables } = form;
  const set = [
    ...(opens === "" ? [] : [t.opens({ count: opens })]),
    ...(disables === "" ? [] : [t.disables({ count: disables })]),
  ];
  return (
    <FormGroup
      title={t.title}
      summary={set.join(", ") || t.deploymentDefault}
      hasProblem={problems.isAnyAt(["/circuit_breaker", "/disable_after"])}
    >
      {NAMES.map((name) => (
        <NumberSettingField key={name} name={name} {...parts} />
      ))}
    </FormGroup>
  );
}
