// Shows a new secret once. The private key of a key pair is never shown: receivers need only the public key.
import { parseSecret } from "@posthorn/wire";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { CopyLine } from "../ui/copy.tsx";
import { PublicKeys } from "./public-keys.tsx";

const texts = defineTexts({
  en: {
    hint: "This secret is shown only once. The receiver needs it to verify deliveries.",
    pair: "Deliveries are signed with a key pair. The private key stays on this server; the receiver needs only the public keys.",
  },
  de: {
    hint: "Dieses Secret wird nur einmal angezeigt. Der Empfänger benötigt es, um Zustellungen zu prüfen.",
    pair: "Zustellungen werden mit einem Schlüsselpaar signiert. Der private Schlüssel bleibt auf diesem Server; der Empfänger benötigt nur die öffentlichen Schlüssel.",
  },
});

export function NewSecret({
  endpoint,
  secret,
  hint,
}: {
  readonly endpoint: string;
  readonly secret: string;
  /** Replaces the default hint. */
  readonly hint?: string;
}) {
  const t = useTexts(texts);
  if (parseSecret(secret)?.kind === "signing") {
    return (
      <div className="flex flex-col gap-2">
        <p>{t.pair}</p>
        <PublicKeys endpoint={endpoint} />
      </div>
    );
  }
  return (
    <div className="flex flex-col gap-2">
      <CopyLine text={secret} />
      <p className="text-muted">{hint ?? t.hint}</p>
    </div>
  );
}
