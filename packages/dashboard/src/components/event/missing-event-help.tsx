// Help for a search that finds no event.
import { Link } from "@tanstack/react-router";
import { defineTexts } from "../../app/texts.ts";

const t = defineTexts({
  title: ["Expected an event here?", "Haben Sie hier ein Ereignis erwartet?"],
  refused: [
    "If data does not match its schema, the API and the library return an error such as 422 invalid_event and store nothing: check the publisher's logs. Events published from SQL are stored as rejected.",
    "Entsprechen Daten nicht ihrem Schema, melden API und Bibliothek einen Fehler wie 422 invalid_event und speichern nichts: Prüfen Sie die Logs der Anwendung. Aus SQL veröffentlichte Ereignisse werden als abgelehnt gespeichert.",
  ],
  never: [
    "If the publisher's logs contain no response from this server, the event was never published.",
    "Enthalten die Logs der Anwendung keine Antwort dieses Servers, wurde das Ereignis nie veröffentlicht.",
  ],
  whole: [
    "Subjects match exactly: search for invoice-4711, not 4711.",
    "Subjects müssen exakt übereinstimmen: invoice-4711, nicht 4711.",
  ],
  old: [
    "Events older than the retention period are deleted.",
    "Ereignisse werden nach Ablauf der Aufbewahrungsfrist gelöscht.",
  ],
  schemas: ["Open the catalogue", "Katalog öffnen"],
});

export function MissingEventHelp() {
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
