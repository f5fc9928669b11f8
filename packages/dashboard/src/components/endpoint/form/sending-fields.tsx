// Form fields for the request: preset, body format, batches and headers.
import { defineTexts, useLanguage, useTexts } from "../../../app/texts.ts";
import { BATCH_BOUNDS, FORMATS, PRESETS } from "../../../format/endpoint-form.ts";
import { type Format, formatTexts } from "../../../format/format-texts.ts";
import { whole } from "../../../format/number.ts";
import { Choice, TextArea, TextField } from "../../ui/field.tsx";
import { FormGroup, Options } from "./form-group.tsx";
import { type FormParts, fieldsIn } from "./form-parts.ts";

const texts = defineTexts({
  en: {
    title: "Request",
    preset: "Preset",
    noPreset: "none",
    presets: { "standard-webhooks": "standard-webhooks: as the standard recommends" },
    presetHint:
      "Signature and envelope of the standard, a timeout of 20 s, and retries for every response except 2xx over three days. Other settings override the preset.",
    format: "Body",
    batch: {
      batchEvents: "Maximum events per batch",
      batchBytes: "Maximum bytes per batch",
      batchDelayMs: "Maximum delay in ms",
    },
    bounds: (min: string, max: string, usual: string) => `${min} to ${max}. Default: ${usual}.`,
    headers: "Custom headers",
    headersHint: "Name: value, one per line.",
    headerCount: (count: number) => (count === 1 ? "1 header" : `${count} headers`),
    usual: "deployment default",
  },
  de: {
    title: "Anfrage",
    preset: "Vorlage",
    noPreset: "keine",
    presets: { "standard-webhooks": "standard-webhooks: wie vom Standard empfohlen" },
    presetHint:
      "Signatur und Envelope des Standards, 20 s Timeout und drei Tage lang erneute Versuche bei jeder Antwort außer 2xx. Andere Einstellungen haben Vorrang.",
    format: "Body",
    batch: {
      batchEvents: "Maximale Ereignisse pro Batch",
      batchBytes: "Maximale Bytes pro Batch",
      batchDelayMs: "Maximale Verzögerung in ms",
    },
    bounds: (min: string, max: string, usual: string) => `${min} bis ${max}. Standard: ${usual}.`,
    headers: "Benutzerdefinierte Header",
    headersHint: "Name: Wert, einer pro Zeile.",
    headerCount: (count: number) => (count === 1 ? "1 Header" : `${count} Header`),
    usual: "Standard der Installation",
  },
});

const BATCH_POINTERS = {
  batchEvents: "/batch/max_events",
  batchBytes: "/batch/max_bytes",
  batchDelayMs: "/batch/max_delay_ms",
} as const;
const BATCH_FIELDS = Object.keys(BATCH_POINTERS) as (keyof typeof BATCH_POINTERS)[];

export function SendingFields(parts: FormParts) {
  const t = useTexts(texts);
  const sentences = useTexts(formatTexts);
  const language = useLanguage();
  const { form, problems, isNew } = parts;
  const field = fieldsIn(parts);
  const names = Object.fromEntries(FORMATS.map((name) => [name, name])) as Record<Format, string>;
  const headers = form.headers.split("\n").filter((line) => line.trim() !== "").length;
  const set = [form.preset, form.format, headers > 0 ? t.headerCount(headers) : ""].filter(Boolean);
  return (
    <FormGroup
      title={t.title}
      summary={set.length === 0 ? t.usual : set.join(", ")}
      hasProblem={problems.isAnyAt(["/preset", "/format", "/batch", "/headers"])}
    >
      {isNew && (
        <Choice
          label={t.preset}
          hint={form.preset === "" ? undefined : t.presetHint}
          {...field("preset", "/preset")}
        >
          <Options none={t.noPreset} names={PRESETS} words={t.presets} />
        </Choice>
      )}
      <Choice label={t.format} hint={sentences[form.format as Format]} {...field("format", "/format")}>
        <Options none={t.usual} names={FORMATS} words={names} />
      </Choice>
      {form.format === "cloudevents-batch" &&
        BATCH_FIELDS.map((name) => {
          const { min, max, usual } = BATCH_BOUNDS[name];
          const text = (bound: number) => whole(bound, language);
          return (
            <TextField
              key={name}
              label={t.batch[name]}
              hint={t.bounds(text(min), text(max), text(usual))}
              inputMode="numeric"
              {...field(name, BATCH_POINTERS[name])}
            />
          );
        })}
      <div className="sm:col-span-2">
        <TextArea label={t.headers} hint={t.headersHint} rows={2} {...field("headers", "/headers")} />
      </div>
    </FormGroup>
  );
}
