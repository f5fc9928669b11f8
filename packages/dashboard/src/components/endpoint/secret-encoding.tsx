// The choice of how a given secret is written.
import { SECRET_ENCODINGS, type SecretEncoding } from "@posthorn/wire";
import type { ComponentProps } from "react";
import { useFilters } from "../../app/filters.ts";
import { defineTexts } from "../../app/texts.ts";
import { Choice } from "../ui/field.tsx";

const t = defineTexts({
  label: ["Encoding of the secret", "Kodierung des Secrets"],
  hint: [
    "For an existing secret of another sender. Deliveries are signed with exactly these bytes.",
    "Für ein vorhandenes Secret eines anderen Senders. Zustellungen werden mit genau diesen Bytes signiert.",
  ],
  codeHint: [
    "The code takes the secret in this encoding. Choose another one if the endpoint uses a secret of another sender.",
    "Der Code erwartet das Secret in dieser Kodierung. Wählen Sie eine andere, wenn der Endpunkt das Secret eines anderen Senders verwendet.",
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

/** The encoding that code to verify requests takes. It is part of the URL. */
export function useShownEncoding(): SecretEncoding | undefined {
  const { secret_encoding: name = "" } = useFilters().filters;
  return isEncoding(name) ? name : undefined;
}

export function ShownEncodingChoice() {
  const { set } = useFilters();
  return (
    <SecretEncodingChoice
      hint={t.codeHint}
      none="whsec_…"
      value={useShownEncoding() ?? ""}
      onChange={(event) => set({ secret_encoding: event.target.value })}
    />
  );
}

/** False for the empty choice. */
export function isEncoding(name: string): name is SecretEncoding {
  return SECRET_ENCODINGS.some((encoding) => encoding === name);
}
