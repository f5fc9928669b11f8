// Form fields for the request: preset, body format, batches and headers.
import { ENDPOINT_PRESET_NAMES, endpointSettings, snakeCase } from "@posthorn/wire";
import { defineTexts, useLanguage, useTexts } from "../../../app/texts.ts";
import { BATCH_FIELDS } from "../../../format/endpoint-form.ts";
import { type Format, formatTexts } from "../../../format/format-texts.ts";
import { whole } from "../../../format/number.ts";
import { Choice, TextField } from "../../ui/field.tsx";
import { FormGroup, Options } from "./form-group.tsx";
import { type FormParts, fieldsIn } from "./form-parts.ts";
import { defaultTexts, pointerOf, SettingField, settingsIn, useSummary } from "./setting-fields.tsx";

const texts = defineTexts({
  en: {
    title: "Request",
    preset: "Preset",
    noPreset: "none",
    presets: { "standard-webhooks": "standard-webhooks: as the standard recommends" },
    presetHint:
      "Signature and envelope of the standard, a timeout of 20 s, and retries for every response except 2xx over three days. Other settings override the preset.",
    batch: {
      batchEvents: "Maximum events per batch",
      batchBytes: "Maximum bytes per batch",
      batchDelayMs: "Maximum delay in ms",
    },
    bounds: (min: string, max: string, usual: string) => `${min} to ${max}. Default: ${usual}.`,
  },
  de: {
    title: "Anfrage",
    preset: "Vorlage",
    noPreset: "keine",
    presets: { "standard-webhooks": "standard-webhooks: wie vom Standard empfohlen" },
    presetHint:
      "Signatur und Envelope des Standards, 20 s Timeout und drei Tage lang erneute Versuche bei jeder Antwort außer 2xx. Andere Einstellungen haben Vorrang.",
    batch: {
      batchEvents: "Maximale Ereignisse pro Batch",
      batchBytes: "Maximale Bytes pro Batch",
      batchDelayMs: "Maximale Verzögerung in ms",
    },
    bounds: (min: string, max: string, usual: string) => `${min} bis ${max}. Standard: ${usual}.`,
  },
});

const BATCH_NAMES = Object.keys(BATCH_FIELDS) as (keyof typeof BATCH_FIELDS)[];

export function SendingFields(parts: FormParts) {
  const t = useTexts(texts);
  const { usual } = useTexts(defaultTexts);
  const sentences = useTexts(formatTexts);
  const language = useLanguage();
  const { form, problems, isNew } = parts;
  const field = fieldsIn(parts);
  const set = [...(form.preset === "" ? [] : [form.preset]), ...useSummary("sending", parts)];
  return (
    <FormGroup
      title={t.title}
      summary={set.length === 0 ? usual : set.join(", ")}
      hasProblem={problems.isAnyAt(["/preset", "/batch", ...settingsIn("sending").map(pointerOf)])}
    >
      {isNew && (
        <Choice
          label={t.preset}
          hint={form.preset === "" ? undefined : t.presetHint}
          {...field("preset", "/preset")}
        >
          <Options none={t.noPreset} names={ENDPOINT_PRESET_NAMES} words={t.presets} />
        </Choice>
      )}
      <SettingField name="format" hint={sentences[form.format as Format]} {...parts} />
      {form.format === "cloudevents-batch" &&
        BATCH_NAMES.map((name) => {
          const limit = BATCH_FIELDS[name];
          const { min, max } = endpointSettings.batch.fields[limit];
          const [least, most, usually] = [min, max, endpointSettings.batch.default[limit]].map((bound) =>
            whole(bound, language),
          ) as [string, string, string];
          return (
            <TextField
              key={name}
              label={t.batch[name]}
              hint={t.bounds(least, most, usually)}
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
