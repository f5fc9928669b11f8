// For whoever looks for an event that is not there: why there can be none, and where to look then.
import { Link } from "@tanstack/react-router";
import { defineTexts, useTexts } from "../../app/texts.ts";

const texts = defineTexts({
  en: {
    title: "Are you looking for an event that should be here?",
    refused:
      "An event that was refused leaves nothing here: whoever published it was told why, such as data that does not fit its schema (422 invalid_event), and their log has it.",
    never: "If their log has no answer from here, it was never published.",
    whole: "A subject is found by the whole of it: invoice-4711, not 4711.",
    old: "What is older than the retention is gone.",
    schemas: "Look at the schemas in the catalogue",
  },
  de: {
    title: "Suchen Sie ein Ereignis, das hier sein sollte?",
    refused:
      "Ein abgelehntes Ereignis hinterlässt hier nichts: Wer es veröffentlichte, bekam den Grund gesagt, etwa Daten, die nicht zum Schema passen (422 invalid_event). Er steht in dessen Log.",
    never: "Steht dort keine Antwort von hier, wurde es nie veröffentlicht.",
    whole: "Einen Gegenstand findet man nur ganz: invoice-4711, nicht 4711.",
    old: "Was älter als die Aufbewahrung ist, ist weg.",
    schemas: "Die Schemas im Katalog ansehen",
  },
});

export function NeverAccepted() {
  const t = useTexts(texts);
  return (
    <div role="note" className="mx-auto flex max-w-prose flex-col gap-1 px-4 pb-8 text-left">
      <p className="font-medium">{t.title}</p>
      <ul className="list-disc pl-5 text-muted">
        <li>{t.whole}</li>
        <li>
          {t.refused}{" "}
          <Link to="/catalogue" className="underline">
            {t.schemas}
          </Link>
        </li>
        <li>{t.never}</li>
        <li>{t.old}</li>
      </ul>
    </div>
  );
}
