// Form fields for the request: preset, body format, batches and headers.
import { ENDPOINT_PRESET_NAMES, endpointSettings, snakeCase } from "@posthorn/wire";
import { defineTexts } from "../../../app/texts.ts";
import { BATCH_FIELDS } from "../../../format/endpoint-form.ts";
import { type Format, formatTexts } from "../../../format/format-texts.ts";
import { whole } from "../../../format/number.ts";
import { Choice, fieldsIn, pointerOf, TextField } from "../../ui/field.tsx";
import { FormGroup, type FormParts, SettingField, settingsIn, useSummary } from "./setting-fields.tsx";

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
  batch: {
    batchEvents: ["Maximum events per batch", "Maximale Anzahl Ereignisse pro Batch"],
    batchBytes: ["Maximum bytes per batch", "Maximale Größe eines Batches in Bytes"],
    batchDelayMs: ["Maximum delay in ms", "Maximale Verzögerung in ms"],
  },
  bounds: ["{min} to {max}. Default: {usual}.", "{min} bis {max}. Standard: {usual}."],
});

const BATCH_NAMES = Object.keys(BATCH_FIELDS) as (keyof typeof BATCH_FIELDS)[];

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
        BATCH_NAMES.map((name) => {
          const limit = BATCH_FIELDS[name];
          const { min, max } = endpointSettings.batch.fields[limit];
          const [least, most, usually] = [min, max, endpointSettings.batch.default[limit]].map((bound) =>
            whole(bound),
          ) as [string, string, string];
          return (
            <TextField
              key={name}
              label={t.batch[name]}
              hint={t.bounds({ min: least, max: most, usual: usually })}
              inputMode="numeric"
              {...field(name, `/batch/${snakeCase(limit)}`)}
            />
          );
        })}
      {settingsIn("sending").map(
        (name) => name !== "format" && <SettingField key={name} name={name} {...parts} />,
      )}
    </FormGroup>
  );
}
