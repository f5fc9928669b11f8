// A new secret: seen now, and never again.
import { defineTexts, useTexts } from "../../app/texts.ts";
import { CopyLine } from "../copy.tsx";

const texts = defineTexts({
  en: { hint: "It is shown this once. Give it to the receiver, which checks every delivery with it." },
  de: {
    hint: "Es wird nur dieses eine Mal gezeigt. Geben Sie es dem Empfänger, der damit jede Zustellung prüft.",
  },
});

export function SecretOnce({ secret }: { readonly secret: string }) {
  const t = useTexts(texts);
  return (
    <>
      <CopyLine text={secret} />
      <p className="text-muted">{t.hint}</p>
    </>
  );
}
