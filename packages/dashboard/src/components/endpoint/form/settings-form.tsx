// The form with all settings of an endpoint; optional groups are collapsed.
import type { FormEvent } from "react";
import { defineTexts, useTexts } from "../../../app/texts.ts";
import { TextArea, TextField } from "../../ui/field.tsx";
import { ProblemList } from "../../ui/problem-list.tsx";
import { ConsentFields } from "./consent-fields.tsx";
import { type FormParts, fieldsIn } from "./form-parts.ts";
import { PaceFields } from "./pace-fields.tsx";
import { SendingFields } from "./sending-fields.tsx";
import { SignatureFields } from "./signature-fields.tsx";

const texts = defineTexts({
  en: {
    url: "URL",
    description: "Description",
    descriptionHint: "Optional.",
    events: "Event types",
    eventsHint: "One per line: an exact type, a prefix such as order.*, or * for all.",
  },
  de: {
    url: "URL",
    description: "Beschreibung",
    descriptionHint: "Optional.",
    events: "Ereignistypen",
    eventsHint: "Einer pro Zeile: ein exakter Typ, ein Präfix wie order.* oder * für alle.",
  },
});

/** JSON Pointers that a field shows. */
export const SHOWN_AT = [
  "/url",
  "/description",
  "/events",
  "/preset",
  "/format",
  "/batch",
  "/headers",
  "/signature",
  "/secret",
  "/scheme_secrets",
  "/authorization",
  "/handshake",
  "/timeout_ms",
  "/max_in_flight",
  "/rate_limit",
  "/retry_policy",
  "/retry_on",
  "/ordering",
  "/fifo_on_dead",
];

export function SettingsForm({
  id,
  onSubmit,
  ...parts
}: FormParts & {
  /** Lets a button outside the form submit it. */
  readonly id: string;
  readonly onSubmit: () => void;
}) {
  const t = useTexts(texts);
  const field = fieldsIn(parts);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form id={id} onSubmit={submit} className="flex flex-col gap-3" noValidate>
      <ProblemList problems={parts.problems.elsewhere(SHOWN_AT)} />
      <TextField label={t.url} type="url" required className="font-mono" {...field("url", "/url")} />
      <TextField label={t.description} hint={t.descriptionHint} {...field("description", "/description")} />
      <TextArea label={t.events} hint={t.eventsHint} rows={3} required {...field("events", "/events")} />
      <FoldedSettings {...parts} />
      <button type="submit" hidden />
    </form>
  );
}

/** The optional settings. */
export function FoldedSettings(parts: FormParts) {
  return (
    <div className="flex flex-col gap-2">
      <SendingFields {...parts} />
      <SignatureFields {...parts} />
      <ConsentFields {...parts} />
      <PaceFields {...parts} />
    </div>
  );
}
