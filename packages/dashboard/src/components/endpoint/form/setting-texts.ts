// The labels of the settings whose fields follow from their definition.
import type { EndpointSettingDefinitions } from "@posthorn/wire";
import { defineTexts } from "../../../app/texts.ts";
import type { TextSetting } from "../../../format/endpoint-form.ts";

export interface SettingTexts {
  readonly label: string;
  /** Without one, it says what an empty field means. */
  readonly hint?: string;
  /** The value in the summary of its group; without it, label and value. */
  readonly summary?: (value: string) => string;
  /** Labels of the values of a choice. */
  readonly values?: Readonly<Record<string, string>>;
}

type Table = {
  readonly [Name in TextSetting]: SettingTexts &
    (EndpointSettingDefinitions[Name] extends { readonly values: readonly (infer Value extends string)[] }
      ? { readonly values: Readonly<Record<Value, string>> }
      : unknown);
};

const formats = {
  envelope: "envelope",
  data: "data",
  thin: "thin",
  cloudevents: "cloudevents",
  "cloudevents-binary": "cloudevents-binary",
  "cloudevents-thin": "cloudevents-thin",
  "cloudevents-batch": "cloudevents-batch",
};

export const settingTexts = defineTexts<Table>({
  en: {
    url: { label: "URL" },
    description: { label: "Description", hint: "Optional." },
    events: {
      label: "Event types",
      hint: "One per line: an exact type, a prefix such as order.*, or * for all.",
    },
    format: { label: "Body", values: formats, summary: (value) => value },
    headers: {
      label: "Custom headers",
      hint: "Name: value, one per line.",
      summary: (value) => counted(value, "1 header", "headers"),
    },
    timeoutMs: { label: "Timeout in ms", summary: (value) => `${value} ms` },
    maxInFlight: { label: "Concurrent attempts", summary: (value) => `${value} concurrent` },
    rateLimit: {
      label: "Attempts per second",
      hint: "Empty for no limit.",
      summary: (value) => `${value} per second`,
    },
    retryPolicy: {
      label: "Retry policy",
      hint: "courier, short, exponential, quick, gaps such as 30s, 5m, 1h, or JSON.",
      summary: (value) => value,
    },
    retryOn: {
      label: "Retry on",
      values: { transient: "408, 429, 5xx and no response", every: "everything except 2xx and 410" },
      summary: () => "",
    },
    ordering: {
      label: "Ordering",
      values: { none: "none", fifo: "fifo: events of a subject in sequence" },
    },
    fifoOnDead: {
      label: "When a delivery of a subject is dead",
      values: { pass: "continue with the next one", hold: "hold the subject" },
      summary: () => "",
    },
  },
  de: {
    url: { label: "URL" },
    description: { label: "Beschreibung", hint: "Optional." },
    events: {
      label: "Ereignistypen",
      hint: "Einer pro Zeile: ein exakter Typ, ein Präfix wie order.* oder * für alle.",
    },
    format: { label: "Body", values: formats, summary: (value) => value },
    headers: {
      label: "Benutzerdefinierte Header",
      hint: "Name: Wert, einer pro Zeile.",
      summary: (value) => counted(value, "1 Header", "Header"),
    },
    timeoutMs: { label: "Timeout in ms", summary: (value) => `${value} ms` },
    maxInFlight: { label: "Gleichzeitige Versuche", summary: (value) => `${value} gleichzeitig` },
    rateLimit: {
      label: "Versuche pro Sekunde",
      hint: "Leer: kein Limit.",
      summary: (value) => `${value} pro Sekunde`,
    },
    retryPolicy: {
      label: "Retry-Richtlinie",
      hint: "courier, short, exponential, quick, Abstände wie 30s, 5m, 1h oder JSON.",
      summary: (value) => value,
    },
    retryOn: {
      label: "Erneut versuchen bei",
      values: { transient: "408, 429, 5xx und fehlender Antwort", every: "allem außer 2xx und 410" },
      summary: () => "",
    },
    ordering: {
      label: "Reihenfolge",
      values: { none: "keine", fifo: "fifo: Ereignisse eines Subjects der Reihe nach" },
    },
    fifoOnDead: {
      label: "Bei fehlgeschlagener Zustellung eines Subjects",
      values: { pass: "mit der nächsten fortfahren", hold: "das Subject anhalten" },
      summary: () => "",
    },
  },
});

function counted(lines: string, one: string, many: string): string {
  const count = lines.split("\n").filter((line) => line.trim() !== "").length;
  return count === 1 ? one : `${count} ${many}`;
}
