// Form fields for the request: preset, body format, batches and headers.
import { ENDPOINT_PRESET_NAMES } from "@posthorn/wire";
import { defineTexts } from "../../../app/texts.ts";
import { numberFieldsOf } from "../../../format/endpoint-form.ts";
import { type Format, formatTexts } from "../../../format/format-texts.ts";
import { Choice, fieldsIn, pointerOf } from "../../ui/field.tsx";
import {
  FormGroup,
  type FormParts,
  NumberSettingField,
  SettingField,
  settingsIn,
  useSummary,
} from "./setting-fields.tsx";

const t = defineTexts({
  preset: ["Preset", "Vorlage"],
  noPreset: ["none", "keine"],
  presets: {
    "standard-webhooks": [
      "standard-webhooks: as the standard recommends",
      "standard-webhooks: wie vom Standard empfohlen",
    ],
  },
  presetHint: [
    "Signature and envelope of the standard, a timeout of 20 s, and retries for every response except 2xx and 410 over three days. Other settings override the preset.",
    "Signatur und Envelope des Standards, 20 s Timeout und drei Tage lang erneute Versuche bei jeder Antwort außer 2xx und 410. Andere Einstellungen haben Vorrang.",
  ],
});

export function SendingFields(parts: FormParts) {
  const { form, problems, isNew } = parts;
  const field = fieldsIn(parts);
  const set = [...(form.preset === "" ? [] : [form.preset]), ...useSummary("sending", parts)];
  return (
    <FormGroup
      title={t.request}
      summary={set.length === 0 ? t.deploymentDefault : set.join(", ")}
      hasProblem={problems.isAnyAt(["/preset", "/batch", ...settingsIn("sending").map(pointerOf)])}
    >
      {isNew && (
        <Choice
          label={t.preset}
          hint={form.preset === "" ? undefined : t.presetHint}
          none={t.noPreset}
          options={ENDPOINT_PRESET_NAMES.map((name) => [name, t.presets[name]])}
          {...field("preset")}
        />
      )}
      <SettingField name="format" hint={formatTexts[form.format as Format]} {...parts} />
      {form.format === "cloudevents-batch" &&
        numberFieldsOf("batch").map((name) => <NumberSettingField key={name} name={name} {...parts} />)}
      {settingsIn("sending").map(
        (name) => name !== "format" && <SettingField key={name} name={name} {...parts} />,
      )}
    </FormGroup>
  );
}
