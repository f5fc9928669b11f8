// The choice of how a given secret is written.
import { SECRET_ENCODINGS, type SecretEncoding } from "@posthorn/wire";
import type { ComponentProps } from "react";
import { defineTexts } from "../../app/texts.ts";
import { Choice } from "../ui/field.tsx";

const t = defineTexts({
  label: ["Encoding of the secret", "Kodierung des Secrets"],
  hint: [
    "For an existing secret of another sender. Deliveries are signed with exactly these bytes.",
    "Für ein vorhandenes Secret eines anderen Senders. Zustellungen werden mit genau diesen Bytes signiert.",
  ],
  own: ["whsec_… or whsk_…", "whsec_… oder whsk_…"],
  encodings: {
    text: ["text (UTF-8)", "Text (UTF-8)"],
    base64: "base64",
    hex: "hex",
  },
});

const IMPORTED = ["text", "base64", "hex"] as const;

export function SecretEncodingChoice(field: Omit<ComponentProps<typeof Choice>, "label" | "options">) {
  return (
    <Choice
      label={t.label}
      hint={t.hint}
      none={t.own}
      options={IMPORTED.map((name) => [name, t.encodings[name]])}
      {...field}
    />
  );
}

/** False for the empty choice. */
export function isEncoding(name: string): name is SecretEncoding {
  return SECRET_ENCODINGS.some((encoding) => encoding === name);
}
