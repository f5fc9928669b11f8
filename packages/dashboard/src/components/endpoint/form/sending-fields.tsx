// What is sent: the format, the bounds of its batches, and headers besides.
import { defineTexts, useLanguage, useTexts } from "../../../app/texts.ts";
import { BATCH_BOUNDS, FORMATS, PRESETS } from "../../../format/endpoint-form.ts";
import { type Format, formatTexts } from "../../../format/endpoint-words.ts";
import { whole } from "../../../format/number.ts";
import { Choice, TextArea, TextField } from "../../ui/field.tsx";
import { FormGroup, Options } from "./form-group.tsx";
import { type FormParts, fieldsIn } from "./form-parts.ts";

const texts = defineTexts({
  en: {
    title: "What is sent",
    preset: "Preset",
    noPreset: "none",
    presets: { "standard-webhooks": "standard-webhooks: what that standard advises" },
    presetHint:
      "Its signature and envelope, a timeout of 20 s, and every answer but 2xx tried again, over three days. What you set besides counts for more.",
    format: "Body",
    batch: {
      batchEvents: "Events in a batch, at most",
      batchBytes: "Bytes of a batch, at most",
      batchDelayMs: "Its first event waits, at most, in ms",
    },
    bounds: (min: string, max: string, usual: string) => `${min} to ${max}. Left empty: ${usual}.`,
    headers: "Headers besides",
    headersHint: "Name: value, one a line.",
    headerCount: (count: number) => (count === 1 ? "1 header" : `${count} headers`),
    usual: "as the deployment is set",
  },
  de: {
    title: "Was gesendet wird",
    preset: "Vorlage",
    noPreset: "keine",
    presets: { "standard-webhooks": "standard-webhooks: was dieser Standard rät" },
    presetHint:
      "Seine Signatur und Hülle, 20 s Zeitgrenze, und jede Antwort außer 2xx wird neu versucht, drei Tage lang. Was Sie außerdem setzen, geht vor.",
    format: "Inhalt",
    batch: {
      batchEvents: "Höchstens so viele Ereignisse im Stapel",
      batchBytes: "Höchstens so viele Bytes im Stapel",
      batchDelayMs: "Das erste Ereignis wartet höchstens, in ms",
    },
    bounds: (min: string, max: string, usual: string) => `${min} bis ${max}. Leer: ${usual}.`,
    headers: "Weitere Header",
    headersHint: "Name: Wert, einer je Zeile.",
    headerCount: (count: number) => (count === 1 ? "1 Header" : `${count} Header`),
    usual: "wie die Installation",
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
          const [least, most, unlessTold] = [min, max, usual].map((bound) => whole(bound, language));
          return (
            <TextField
              key={name}
              label={t.batch[name]}
              hint={t.bounds(least as string, most as string, unlessTold as string)}
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
