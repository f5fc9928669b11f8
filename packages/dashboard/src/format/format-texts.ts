// Descriptions of the body formats.
import type { SettingValue } from "@posthorn/wire";
import { inLanguage, type Text } from "../app/texts.ts";

export type Format = SettingValue<"format">;

/** Shown after the name of the format. */
export const formatTexts = inLanguage<Readonly<Record<Format, Text>>>({
  envelope: [
    "The event data wrapped with id, type and timestamp.",
    "Die Daten des Ereignisses zusammen mit ID, Typ und Zeitstempel.",
  ],
  data: [
    "Only the event data, byte for byte as published.",
    "Nur die Daten des Ereignisses, Byte für Byte wie veröffentlicht.",
  ],
  thin: [
    "Only id, type and subject. The receiver fetches the data from your API.",
    "Nur ID, Typ und Subject. Der Empfänger ruft die Daten über Ihre API ab.",
  ],
  cloudevents: [
    "A CloudEvent in structured mode: attributes and data in one JSON document.",
    "Ein CloudEvent im Structured Mode: Attribute und Daten in einem JSON-Dokument.",
  ],
  "cloudevents-binary": [
    "A CloudEvent in binary mode: the body is the data, attributes are ce-… headers, which the signature does not cover.",
    "Ein CloudEvent im Binary Mode: Der Body enthält nur die Daten, die Attribute stehen in ce-…-Headern, die nicht signiert werden.",
  ],
  "cloudevents-thin": [
    "A CloudEvent without data; dataref links to it.",
    "Ein CloudEvent ohne Daten; dataref verweist darauf.",
  ],
  "cloudevents-batch": [
    "CloudEvents are collected and sent as a JSON array when a limit is reached. Cannot be combined with fifo.",
    "CloudEvents werden gesammelt und als JSON-Array gesendet, sobald ein Limit erreicht ist. Nicht mit fifo kombinierbar.",
  ],
});
