// Where receivers find the public halves of the key pairs that sign an endpoint's deliveries.
import { defineTexts, useTexts } from "../../app/texts.ts";
import { CopyLine } from "../ui/copy.tsx";

const texts = defineTexts({
  en: { hint: "Receivers verify with these, and may fetch them from here." },
  de: { hint: "Damit prüfen Empfänger, und sie dürfen sie hier holen." },
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
