// Whoever comes without a link that works.
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Icon } from "../../components/icons.tsx";

const texts = defineTexts({
  en: {
    title: "This link has been used or is too old",
    detail: "Open the page you came from again: it gives you a new one.",
  },
  de: {
    title: "Dieser Link wurde schon benutzt oder ist zu alt",
    detail: "Öffnen Sie die Seite, von der Sie kamen, noch einmal: Sie gibt Ihnen einen neuen.",
  },
});

export function LinkIsOver() {
  const t = useTexts(texts);
  return (
    <main className="grid min-h-screen place-items-center p-6 text-center">
      <div className="flex max-w-sm flex-col items-center gap-3">
        <Icon name="lock" className="size-8 text-muted" />
        <h1 className="text-lg font-semibold">{t.title}</h1>
        <p className="text-muted">{t.detail}</p>
      </div>
    </main>
  );
}
