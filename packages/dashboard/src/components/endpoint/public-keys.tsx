// The URL of an endpoint's public keys.
import { defineTexts, useTexts } from "../../app/texts.ts";
import { CopyLine } from "../ui/copy.tsx";

const texts = defineTexts({
  en: { hint: "Receivers fetch the public keys here to verify signatures." },
  de: { hint: "Empfänger rufen hier die öffentlichen Schlüssel zum Prüfen der Signaturen ab." },
});

export function PublicKeys({ endpoint }: { readonly endpoint: string }) {
  const t = useTexts(texts);
  return (
    <>
      <CopyLine text={new URL(`.well-known/webhook-keys/${endpoint}`, document.baseURI).href} />
      <span className="text-xs text-muted">{t.hint}</span>
    </>
  );
}
