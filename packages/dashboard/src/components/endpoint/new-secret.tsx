// Shows a new secret once. The private key of a key pair is never shown: receivers need only the public key.
import { parseSecret } from "@posthorn/wire";
import { defineTexts } from "../../app/texts.ts";
import { CopyLine } from "../ui/copy.tsx";

const t = defineTexts({
  hint: [
    "This secret is shown only once. The receiver needs it to verify deliveries.",
    "Dieses Secret wird nur einmal angezeigt. Der Empfänger benötigt es, um Zustellungen zu prüfen.",
  ],
  pair: [
    "Deliveries are signed with a key pair. The private key stays on this server; the receiver needs only the public keys.",
    "Zustellungen werden mit einem Schlüsselpaar signiert. Der private Schlüssel bleibt auf diesem Server; der Empfänger benötigt nur die öffentlichen Schlüssel.",
  ],
  publicKeysHint: [
    "Receivers fetch the public keys here to verify signatures.",
    "Empfänger rufen hier die öffentlichen Schlüssel zum Prüfen der Signaturen ab.",
  ],
});

export function NewSecret({
  endpoint,
  secret,
  hint,
}: {
  readonly endpoint: string;
  readonly secret: string;
  readonly hint?: string;
}) {
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

export function PublicKeys({ endpoint }: { readonly endpoint: string }) {
  return (
    <>
      <CopyLine text={new URL(`.well-known/webhook-keys/${endpoint}`, document.baseURI).href} />
      <span className="text-xs text-muted">{t.publicKeysHint}</span>
    </>
  );
}
