// What a receiver can rely on, and what it has to do: the delivery contract.
import { Link } from "@tanstack/react-router";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { Page, Panel } from "../../components/ui/panel.tsx";

const texts = defineTexts({
  en: {
    title: "How deliveries work",
    lead: "What you can rely on, and what your receiver has to do.",
    verify: "Verify a request, with code in six languages",
    parts: [
      [
        "What comes",
        "A POST for each event you asked for, with JSON unless the event itself is something else. The body is signed, and is the same at every attempt. X-Webhook-Id is the event's id, X-Webhook-Event its type, X-Webhook-Attempt counts. An endpoint that signs as another service does, sends CloudEvents or batches has other headers and bodies: its page names them, and each delivery shows its request.",
      ],
      [
        "Verify first",
        "Compute the signature over the raw bytes, before any JSON parser, compare in constant time, and refuse timestamps that are more than five minutes off. During a rotation there are two signatures: one that fits is enough.",
      ],
      [
        "Answer quickly",
        "Any 2xx within the timeout of the endpoint (10 seconds unless set otherwise) means that it is yours now. Keep the event, answer, and work on it afterwards.",
      ],
      [
        "It may come twice",
        "Delivery is at least once: after a lost answer, a retry by hand or a replay the same event comes again, with the same id. Remember the ids you worked on.",
      ],
      [
        "What an answer means",
        "2xx: delivered. 408, 429, 5xx, no answer: tried again, over hours; Retry-After is obeyed. 409 with Retry-After: later, and no failure. 410: never again, the endpoint is disabled. Redirects and other 4xx: given up at once. Redirects are never followed.",
      ],
      [
        "When it keeps failing",
        "After many failures in a row the endpoint is paused and tried now and then; after days without a success it is disabled, and you are told. Nothing is lost: enable it again, and what waits is delivered or can be replayed here.",
      ],
      [
        "Order",
        "Events may overtake each other unless the endpoint asks for order (fifo). Events of a subject carry a sequence without gaps, so that older news can be recognised.",
      ],
    ] as readonly (readonly [string, string])[],
  },
  de: {
    title: "Wie zugestellt wird",
    lead: "Worauf Sie sich verlassen können, und was Ihr Empfänger tun muss.",
    verify: "Anfrage prüfen, mit Code in sechs Sprachen",
    parts: [
      [
        "Was kommt",
        "Ein POST für jedes Ereignis, das Sie wollten, mit JSON, wenn das Ereignis nicht selbst etwas anderes ist. Der Inhalt ist signiert und bei jedem Versuch derselbe. X-Webhook-Id ist die Id des Ereignisses, X-Webhook-Event sein Typ, X-Webhook-Attempt zählt. Ein Endpunkt, der wie ein anderer Dienst signiert, CloudEvents oder Stapel sendet, hat andere Header und Inhalte: Seine Seite nennt sie, und jede Zustellung zeigt ihre Anfrage.",
      ],
      [
        "Erst prüfen",
        "Die Signatur über die rohen Bytes bilden, vor jedem JSON-Parser, in konstanter Zeit vergleichen, und Zeitstempel ablehnen, die mehr als fünf Minuten abweichen. Während eines Wechsels gibt es zwei Signaturen: Eine, die passt, genügt.",
      ],
      [
        "Schnell antworten",
        "Ein 2xx innerhalb der Frist des Endpunkts (10 Sekunden, wenn nichts anderes gesetzt ist) heißt: Es gehört jetzt Ihnen. Ereignis aufheben, antworten, danach bearbeiten.",
      ],
      [
        "Es kann zweimal kommen",
        "Zugestellt wird mindestens einmal: Nach einer verlorenen Antwort, einem Versuch von Hand oder einer Wiederholung kommt dasselbe Ereignis noch einmal, mit derselben Id. Merken Sie sich die bearbeiteten Ids.",
      ],
      [
        "Was eine Antwort bedeutet",
        "2xx: zugestellt. 408, 429, 5xx, keine Antwort: wird über Stunden neu versucht; Retry-After wird befolgt. 409 mit Retry-After: später, ohne Fehler. 410: nie wieder, der Endpunkt wird abgeschaltet. Weiterleitungen und andere 4xx: sofort aufgegeben. Weiterleitungen wird nie gefolgt.",
      ],
      [
        "Wenn es immer scheitert",
        "Nach vielen Fehlern in Folge wird der Endpunkt angehalten und ab und zu versucht; nach Tagen ohne Erfolg wird er abgeschaltet, und Sie erfahren es. Nichts geht verloren: Schalten Sie ihn wieder ein, und das Wartende wird zugestellt oder lässt sich hier wiederholen.",
      ],
      [
        "Reihenfolge",
        "Ereignisse können einander überholen, wenn der Endpunkt keine Reihenfolge (fifo) verlangt. Ereignisse eines Gegenstands tragen eine lückenlose Nummer, an der ältere zu erkennen sind.",
      ],
    ],
  },
});

export function DeliveryContract() {
  const t = useTexts(texts);
  return (
    <Page title={t.title} lead={t.lead}>
      {t.parts.map(([title, text]) => (
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
