// The labels of the settings whose fields follow from their definition.
import { presetsText } from "@posthorn/wire";
import { inLanguage, type Text } from "../../../app/texts.ts";
import type { NumberField, TextSetting } from "../../../format/endpoint-form.ts";

export interface SettingTexts {
  readonly label: Text;
  /** If omitted, the field shows what an empty value means. */
  readonly hint?: Text;
  /** The value in the summary of its group; without it, label and value. */
  readonly summary?: Text<(value: string) => string>;
  /** Labels of the values of a choice; without one, the value itself. */
  readonly values?: Readonly<Record<string, Text>>;
}

export const settingTexts = inLanguage<Readonly<Record<TextSetting, SettingTexts>>>({
  url: { label: "URL" },
  name: {
    label: "Name",
    hint: [
      "Optional. Otherwise the host of the URL is shown.",
      "Optional. Sonst wird der Host der URL angezeigt.",
    ],
  },
  description: { label: ["Description", "Beschreibung"], hint: "Optional." },
  events: {
    label: ["Event types", "Ereignistypen"],
    hint: [
      "One per line: an exact type, a prefix such as order.*, or * for all.",
      "Einer pro Zeile: ein exakter Typ, ein Präfix wie order.* oder * für alle.",
    ],
  },
  format: { label: "Body", summary: (value) => value },
  envelopeFields: {
    label: ["Names of envelope fields", "Namen der Envelope-Felder"],
    hint: [
      "field: name, one per line, such as tenant_id: team_id.",
      "Feld: Name, einer pro Zeile, etwa tenant_id: team_id.",
    ],
    summary: [
      (value) => counted(value, "1 renamed field", "renamed fields"),
      (value) => counted(value, "1 umbenanntes Feld", "umbenannte Felder"),
    ],
  },
  userAgent: { label: "User-Agent", summary: (value) => value },
  headers: {
    label: ["Custom headers", "Benutzerdefinierte Header"],
    hint: ["Name: value, one per line.", "Name: Wert, einer pro Zeile."],
    summary: [
      (value) => counted(value, "1 header", "headers"),
      (value) => counted(value, "1 Header", "Header"),
    ],
  },
  timeoutMs: { label: "Timeout in ms", summary: (value) => `${value} ms` },
  maxInFlight: {
    label: ["Concurrent attempts", "Gleichzeitige Versuche"],
    summary: [(value) => `${value} concurrent`, (value) => `${value} gleichzeitig`],
  },
  maxInFlightBurst: {
    label: [
      "Concurrent attempts while responses are fast",
      "Gleichzeitige Versuche, solange Antworten schnell sind",
    ],
    hint: [
      "Empty uses the number above if it is set, otherwise the deployment default. If both numbers are equal, the limit is fixed.",
      "Leer: die Zahl oben, falls gesetzt, sonst der Standard der Installation. Sind beide Zahlen gleich, ist das Limit fest.",
    ],
    summary: [(value) => `up to ${value}`, (value) => `bis zu ${value}`],
  },
  rateLimit: {
    label: ["Attempts per second", "Versuche pro Sekunde"],
    hint: ["Empty for no limit.", "Leer: kein Limit."],
    summary: [(value) => `${value} per second`, (value) => `${value} pro Sekunde`],
  },
  retryPolicy: {
    label: ["Retry policy", "Retry-Richtlinie"],
    hint: [
      `A preset: ${presetsText()}. Or delays such as 30s, 5m, 1h, or JSON.`,
      `Eine Vorlage: ${presetsText().replaceAll("random up to", "zufällig bis")}. Oder Wartezeiten wie 30s, 5m, 1h oder JSON.`,
    ],
    summary: (value) => value,
  },
  retryOn: {
    label: ["Retry on", "Erneut versuchen bei"],
    values: {
      transient: ["408, 429, 5xx and no response", "408, 429, 5xx und fehlender Antwort"],
      every: ["everything except 2xx and 410", "allem außer 2xx und 410"],
    },
    summary: () => "",
  },
  ordering: {
    label: ["Ordering", "Reihenfolge"],
    values: {
      none: ["none", "keine"],
      fifo: ["fifo: events of a subject in sequence", "fifo: Ereignisse eines Subjects der Reihe nach"],
    },
  },
  fifoOnDead: {
    label: [
      "If a delivery of a subject fails permanently",
      "Wenn eine Zustellung eines Subjects endgültig fehlschlägt",
    ],
    values: {
      pass: ["continue with the next one", "mit der nächsten fortfahren"],
      hold: ["hold the subject", "das Subject anhalten"],
    },
    summary: () => "",
  },
});

/** The labels of numbers that belong to a setting. */
export const numberTexts = inLanguage<Readonly<Record<NumberField, Text>>>({
  batchEvents: ["Maximum events per batch", "Maximale Anzahl Ereignisse pro Batch"],
  batchBytes: ["Maximum bytes per batch", "Maximale Größe eines Batches in Bytes"],
  batchDelayMs: ["Maximum delay in ms", "Maximale Verzögerung in ms"],
  circuitFailures: [
    "Consecutive failures that open the circuit (0: never)",
    "Fehler in Folge, die den Circuit öffnen (0: nie)",
  ],
  circuitFailurePercent: [
    "Percentage of failures in a minute that opens the circuit (0: none)",
    "Prozent Fehler in einer Minute, die den Circuit öffnen (0: keine)",
  ],
  circuitFailuresPerHour: [
    "Failures in an hour that open the circuit (0: none)",
    "Fehler in einer Stunde, die den Circuit öffnen (0: keine)",
  ],
  circuitPauseMs: ["First pause of an open circuit in ms", "Erste Pause eines offenen Circuits in ms"],
  disableAfterFailures: [
    "Consecutive failures that disable the endpoint (0: never)",
    "Fehler in Folge, die den Endpunkt deaktivieren (0: nie)",
  ],
  disableAfterDays: [
    "Days without a success that disable the endpoint (0: never)",
    "Tage ohne Erfolg, die den Endpunkt deaktivieren (0: nie)",
  ],
});

function counted(lines: string, one: string, many: string): string {
  const count = lines.split("\n").filter((line) => line.trim() !== "").length;
  return count === 1 ? one : `${count} ${many}`;
}
