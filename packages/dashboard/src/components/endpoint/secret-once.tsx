// A new secret: seen now, and never again. The private half of a key pair is not shown at all, since receivers must not have it.
import { parseSecret } from "@posthorn/wire";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { CopyLine } from "../ui/copy.tsx";
import { PublicKeys } from "./public-keys.tsx";

const texts = defineTexts({
  en: {
    hint: "It is shown this once. Give it to the receiver, which checks every delivery with it.",
    pair: "Deliveries are signed with a key pair. Its private half stays here, and there is no secret to hand over: the receiver needs the public keys alone.",
  },
  de: {
    hint: "Es wird nur dieses eine Mal gezeigt. Geben Sie es dem Empfänger, der damit jede Zustellung prüft.",
    pair: "Zustellungen werden mit einem Schlüsselpaar signiert. Der private Teil bleibt hier, und es ist kein Geheimnis weiterzugeben: Der Empfänger braucht nur die öffentlichen Schlüssel.",
  },
});

export function SecretOnce({
  endpoint,
  secret,
  hint,
}: {
  readonly endpoint: string;
  readonly secret: string;
  /** What it is for, in other words. */
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
