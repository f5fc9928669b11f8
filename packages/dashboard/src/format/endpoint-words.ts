// What an endpoint can be sent, and what it said when it was asked, in words: the same in its form and on its page.
import { defineTexts } from "../app/texts.ts";
import type { FORMATS } from "./endpoint-form.ts";

export type Format = (typeof FORMATS)[number];

/** Without their name, which stands before them. */
export const formatTexts = defineTexts<Readonly<Record<Format, string>>>({
  en: {
    envelope: "The data with its id, type and time around it.",
    data: "The bare data, byte for byte as it was published.",
    thin: "Id, type and subject alone: the receiver reads the rest from you.",
    cloudevents: "A CloudEvent: attributes and data in one JSON document.",
    "cloudevents-binary":
      "A CloudEvent whose body is the data; its attributes are ce-… headers, which no signature covers.",
    "cloudevents-thin": "A CloudEvent without its data; dataref says where that is.",
    "cloudevents-batch":
      "CloudEvents are collected, and go as a JSON array when the first of the bounds is reached. Not together with fifo.",
  },
  de: {
    envelope: "Die Daten, darum herum Id, Typ und Zeit.",
    data: "Die bloßen Daten, Byte für Byte wie veröffentlicht.",
    thin: "Nur Id, Typ und Gegenstand: Den Rest liest der Empfänger bei Ihnen.",
    cloudevents: "Ein CloudEvent: Attribute und Daten in einem JSON-Dokument.",
    "cloudevents-binary":
      "Ein CloudEvent, dessen Inhalt die Daten sind; seine Attribute sind ce-…-Header, die keine Signatur schützt.",
    "cloudevents-thin": "Ein CloudEvent ohne seine Daten; dataref sagt, wo sie sind.",
    "cloudevents-batch":
      "CloudEvents werden gesammelt und gehen als JSON-Liste, sobald die erste der Grenzen erreicht ist. Nicht zusammen mit fifo.",
  },
});
