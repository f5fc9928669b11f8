// The delivery contract for receivers.
import { Link } from "@tanstack/react-router";
import { defineTexts } from "../../app/texts.ts";
import { Page, Panel } from "../../components/ui/page.tsx";

const t = defineTexts({
  lead: [
    "What you can rely on, and what your receiver must do.",
    "Worauf Sie sich verlassen können und was Ihr Empfänger tun muss.",
  ],
  verify: [
    "Verify signatures, with example code in six languages",
    "Signaturen prüfen, mit Beispielcode in sechs Sprachen",
  ],
  parts: [
    {
      Requests:
        "You receive a POST request for every event you subscribed to, usually with a JSON body. The body is signed and identical in every attempt. X-Webhook-Id is the event id, X-Webhook-Event its type and X-Webhook-Attempt the attempt number. Endpoints with other signature schemes, CloudEvents or batches use other headers and bodies; the endpoint's page lists them, and every delivery shows its request.",
      "Verify signatures":
        "Compute the signature over the raw bytes before parsing, compare in constant time, and reject timestamps that are off by more than five minutes. During a secret rotation there are two signatures; one match is sufficient.",
      "Respond quickly":
        "Return 2xx within the endpoint's timeout (10 seconds by default) to accept the event. Store the event, respond, then process it.",
      "Concurrent requests":
        "Several requests may be open at a time. The number grows while you respond fast and successfully, within the endpoint's limits, and shrinks when you respond slowly or with an error. Set both limits to the same number to keep it fixed, and to 1 to receive one request at a time.",
      Duplicates:
        "Delivery is at least once. After a lost response, a manual retry or a replay you receive the same event again, with the same id. Store the ids you have processed.",
      "Response codes":
        "2xx: delivered. 408, 429, 5xx or no response: retried over hours, respecting Retry-After. 409 with Retry-After: retried later, not counted as a failure. 410: the endpoint is disabled. Redirects and other 4xx: not retried by default. Redirects are never followed.",
      "Repeated failures":
        "After many consecutive failures, deliveries are paused and the endpoint is probed from time to time. If failures continue, or after days without a success, it is disabled and you are notified. Nothing is lost: when you enable it again, the backlog is delivered or can be replayed.",
      Ordering:
        "Events may arrive out of order unless the endpoint uses fifo ordering. Events of a subject have ascending sequence numbers, so you can detect older events. Events that the endpoint does not receive leave gaps.",
    },
    {
      Anfragen:
        "Für jedes abonnierte Ereignis erhalten Sie eine POST-Anfrage, in der Regel mit JSON-Body. Der Body ist signiert und bei jedem Versuch identisch. X-Webhook-Id ist die ID des Ereignisses, X-Webhook-Event sein Typ, X-Webhook-Attempt die Nummer des Versuchs. Endpunkte mit anderen Signaturverfahren, CloudEvents oder Batches verwenden andere Header und Bodys; die Seite des Endpunkts nennt sie, und jede Zustellung zeigt ihre Anfrage.",
      "Signaturen prüfen":
        "Berechnen Sie die Signatur über die unveränderten Bytes vor dem Parsen, vergleichen Sie in konstanter Zeit und lehnen Sie Zeitstempel ab, die mehr als fünf Minuten abweichen. Während einer Secret-Rotation gibt es zwei Signaturen; eine passende genügt.",
      "Schnell antworten":
        "Geben Sie innerhalb des Timeouts des Endpunkts (standardmäßig 10 Sekunden) 2xx zurück, um das Ereignis anzunehmen. Speichern Sie das Ereignis, antworten Sie, und verarbeiten Sie es danach.",
      "Gleichzeitige Anfragen":
        "Mehrere Anfragen können gleichzeitig offen sein. Ihre Zahl wächst innerhalb der Limits des Endpunkts, solange Sie schnell und erfolgreich antworten, und sinkt bei langsamen Antworten oder Fehlern. Setzen Sie beide Limits auf dieselbe Zahl, damit sie fest bleibt, und auf 1, um jeweils nur eine Anfrage zu erhalten.",
      Duplikate:
        "Zugestellt wird mindestens einmal. Nach einer verlorenen Antwort, einem manuellen Versuch oder einem Replay erhalten Sie dasselbe Ereignis erneut, mit derselben ID. Speichern Sie die verarbeiteten IDs.",
      Antwortcodes:
        "2xx: zugestellt. 408, 429, 5xx oder keine Antwort: wird über Stunden erneut versucht, Retry-After wird beachtet. 409 mit Retry-After: wird später erneut versucht, zählt nicht als Fehler. 410: Der Endpunkt wird deaktiviert. Weiterleitungen und andere 4xx: standardmäßig kein erneuter Versuch. Weiterleitungen wird nie gefolgt.",
      "Wiederholte Fehler":
        "Nach vielen Fehlern in Folge werden die Zustellungen angehalten und der Endpunkt gelegentlich getestet. Halten die Fehler an oder gelingt tagelang keine Zustellung, wird er deaktiviert, und Sie werden benachrichtigt. Nichts geht verloren: Nach dem Aktivieren wird der Rückstand zugestellt oder kann per Replay gesendet werden.",
      Reihenfolge:
        "Ereignisse können in anderer Reihenfolge eintreffen, wenn der Endpunkt nicht die Reihenfolge fifo verwendet. Ereignisse eines Subjects haben aufsteigende Sequenznummern, an denen Sie ältere erkennen. Ereignisse, die der Endpunkt nicht erhält, hinterlassen Lücken.",
    },
  ],
});

export function DeliveryContract() {
  return (
    <Page title={t.howDeliveriesWork} lead={t.lead}>
      {Object.entries(t.parts).map(([title, text]) => (
        <Panel key={title} title={title}>
          <p className="max-w-prose">{text}</p>
        </Panel>
      ))}
      <Link to="/verify" className="underline">
        {t.verify}
      </Link>
    </Page>
  );
}
