// The delivery contract for receivers. Everything it states comes from the contract that the server computes.
import type { DeliveryContract } from "@posthorn/client";
import type { ReactNode } from "react";
import { defineTexts } from "../../app/texts.ts";
import { isByKeyPair } from "../../format/signature-schemes.ts";
import { duration } from "../../format/time.ts";
import { ShownEncodingChoice } from "../endpoint/secret-encoding.tsx";
import { type Column, DataTable } from "../list/data-table.tsx";
import { CodeView } from "../ui/json-view.tsx";
import { Fact, Facts, Panel } from "../ui/page.tsx";
import { SignaturePanel } from "./signatures.tsx";

type Header = DeliveryContract["request"]["headers"][number];
type Response = DeliveryContract["responses"][number];

const t = defineTexts({
  requests: ["Requests", "Anfragen"],
  method: ["Method", "Methode"],
  contentType: ["Content type", "Inhaltstyp"],
  timeout: ["Timeout", "Timeout"],
  respond: [
    "Return 2xx within {timeout}. Store the event, respond, then process it. Redirects are never followed.",
    "Antworten Sie innerhalb von {timeout} mit 2xx. Speichern Sie das Ereignis, antworten Sie, und verarbeiten Sie es danach. Weiterleitungen wird nie gefolgt.",
  ],
  sameBody: [
    "The body is identical in every attempt; timestamp, attempt number and signature differ.",
    "Der Body ist bei jedem Versuch identisch; Zeitstempel, Nummer des Versuchs und Signatur unterscheiden sich.",
  ],
  headers: ["Headers", "Header"],
  meaning: ["Meaning", "Bedeutung"],
  body: ["Example body", "Beispiel für den Body"],
  meanings: {
    event_id: ["event id", "ID des Ereignisses"],
    event_type: ["event type", "Ereignistyp"],
    event_time: ["time of the event", "Zeit des Ereignisses"],
    delivery_id: ["delivery id", "ID der Zustellung"],
    attempt: ["number of the attempt", "Nummer des Versuchs"],
    timestamp: ["time of the attempt", "Zeit des Versuchs"],
    signature: ["signature", "Signatur"],
    body_digest: ["digest of the body", "Hash des Body"],
    signature_input: ["what each signature covers", "was jede Signatur umfasst"],
    next_signature: [
      "signature with the new secret, during a rotation only",
      "Signatur mit dem neuen Secret, nur während einer Rotation",
    ],
    content_type: ["content type of the body", "Inhaltstyp des Body"],
    user_agent: ["the sender", "der Absender"],
    trace: [
      "W3C trace context, if the event is traced",
      "W3C-Trace-Kontext, falls das Ereignis verfolgt wird",
    ],
    authorization: ["the endpoint's token", "Token des Endpunkts"],
    handshake_origin: ["the sender's DNS name", "DNS-Name des Absenders"],
    custom: ["custom header", "benutzerdefinierter Header"],
    fixed: ["always this value", "immer dieser Wert"],
  },
  verifySignatures: ["Verify signatures", "Signaturen prüfen"],
  responses: ["Responses", "Antworten"],
  status: "Status",
  result: ["Result", "Ergebnis"],
  results: {
    delivered: ["delivered", "zugestellt"],
    retried: ["retried by the schedule below", "wird nach dem Plan unten wiederholt"],
    dead: ["not retried", "wird nicht wiederholt"],
    disabled: [
      "not retried, and the endpoint is disabled",
      "wird nicht wiederholt, und der Endpunkt wird deaktiviert",
    ],
    postponed: ["retried later, not counted as a failure", "wird später wiederholt, zählt nicht als Fehler"],
  },
  honored: ["Retry-After is respected.", "Retry-After wird beachtet."],
  pauses: [
    "All deliveries to the endpoint are paused meanwhile.",
    "Alle Zustellungen an den Endpunkt pausieren solange.",
  ],
  withRetryAfter: ["{status} with Retry-After", "{status} mit Retry-After"],
  noResponse: ["No response", "Keine Antwort"],
  retries: ["Retries", "Wiederholungen"],
  attempts: ["At most {count} {count|attempt|attempts}.", "Höchstens {count} {count|Versuch|Versuche}."],
  noRetries: ["Failed deliveries are not retried.", "Fehlgeschlagene Zustellungen werden nicht wiederholt."],
  total: [
    "The last attempt is up to {total} after the first, plus response times and pauses.",
    "Der letzte Versuch erfolgt bis zu {total} nach dem ersten, zuzüglich Antwortzeiten und Pausen.",
  ],
  maxAge: [
    "No attempt is made once the event is {age} old.",
    "Ist das Ereignis {age} alt, folgt kein Versuch mehr.",
  ],
  afterwards: [
    "Then the delivery is dead; it can be retried by hand or replayed.",
    "Danach gilt die Zustellung als fehlgeschlagen; sie kann von Hand oder per Replay wiederholt werden.",
  ],
  attempt: ["Attempt", "Versuch"],
  wait: ["Wait after the previous one", "Abstand zum vorigen"],
  failures: ["Repeated failures", "Wiederholte Fehler"],
  circuit: [
    "After {rules}, deliveries are paused for {pause} and the endpoint is probed; each failed probe doubles the pause, up to 5 minutes.",
    "Nach {rules} pausieren die Zustellungen für {pause}, und der Endpunkt wird getestet; jeder fehlgeschlagene Test verdoppelt die Pause, bis zu 5 Minuten.",
  ],
  inARow: ["{count} consecutive failures", "{count} Fehlern in Folge"],
  percent: ["{count} % failures within a minute", "{count} % Fehlern in einer Minute"],
  perHour: ["{count} failures within an hour", "{count} Fehlern in einer Stunde"],
  noCircuit: ["Failures do not pause deliveries.", "Fehler halten Zustellungen nicht an."],
  disabledAfter: ["After {rules}, the endpoint is disabled.", "Nach {rules} wird der Endpunkt deaktiviert."],
  days: ["{count} {count|day|days} without success", "{count} {count|Tag|Tagen} ohne Erfolg"],
  neverDisabled: ["Failures do not disable the endpoint.", "Fehler deaktivieren den Endpunkt nicht."],
  kept: [
    "Nothing is lost: when it is enabled again, the backlog is delivered or can be replayed.",
    "Nichts geht verloren: Nach dem Aktivieren wird der Rückstand zugestellt oder kann per Replay gesendet werden.",
  ],
  or: ["or", "oder"],
  pace: ["Concurrent requests", "Gleichzeitige Anfragen"],
  fixedPace: [
    "At most {count} {count|request|requests} at a time.",
    "Höchstens {count} {count|Anfrage|Anfragen} gleichzeitig.",
  ],
  growing: [
    "{count} {count|request|requests} at a time, growing to {burst} while you respond fast and successfully, and shrinking when you do not.",
    "{count} {count|Anfrage|Anfragen} gleichzeitig; bis zu {burst}, solange Sie schnell und erfolgreich antworten, sonst wieder weniger.",
  ],
  rate: ["At most {rate} per second.", "Höchstens {rate} pro Sekunde."],
  ordering: ["Ordering", "Reihenfolge"],
  unordered: [
    "Events may arrive out of order. Events of a subject have ascending sequence numbers, so you can detect older ones. Events that the endpoint does not receive leave gaps.",
    "Ereignisse können in anderer Reihenfolge eintreffen. Ereignisse eines Subjects haben aufsteigende Sequenznummern, an denen Sie ältere erkennen. Ereignisse, die der Endpunkt nicht erhält, hinterlassen Lücken.",
  ],
  fifo: [
    "The events of a subject arrive one at a time, in the order of their sequence numbers. Other subjects are not affected.",
    "Die Ereignisse eines Subjects treffen einzeln ein, in der Reihenfolge ihrer Sequenznummern. Andere Subjects sind nicht betroffen.",
  ],
  pass: [
    "After a dead delivery the next event is sent.",
    "Nach einer fehlgeschlagenen Zustellung wird das nächste Ereignis gesendet.",
  ],
  hold: [
    "A dead delivery holds its subject until it is retried or deleted.",
    "Eine fehlgeschlagene Zustellung hält ihr Subject an, bis sie wiederholt oder gelöscht wird.",
  ],
  duplicates: ["Duplicates", "Duplikate"],
  atLeastOnce: [
    "Delivery is at least once: after a lost response, a manual retry or a replay, the same event arrives again with the same id.",
    "Zugestellt wird mindestens einmal: Nach einer verlorenen Antwort, einem manuellen Versuch oder einem Replay trifft dasselbe Ereignis mit derselben ID erneut ein.",
  ],
  idIn: ["The id is in {places}.", "Die ID steht in {places}."],
  theHeader: ["the header {name}", "dem Header {name}"],
  theMember: ["the member {name} of the body", "dem Feld {name} des Body"],
  noId: [
    "The request has no event id: use a digest of the body.",
    "Die Anfrage enthält keine Ereignis-ID: Verwenden Sie einen Hash des Body.",
  ],
  remember: [
    "Remember processed ids for at least {time}, or {days} {days|day|days} to recognise replays too.",
    "Merken Sie sich verarbeitete IDs mindestens {time}, oder {days} {days|Tag|Tage}, um auch Replays zu erkennen.",
  ],
});

export function ContractView({ contract }: { readonly contract: DeliveryContract }) {
  const { request, signatures } = contract;
  return (
    <>
      <Panel title={t.requests}>
        <div className="flex flex-col gap-3">
          <Facts>
            <Fact name={t.method}>{request.method}</Fact>
            {request.content_type !== null && <Fact name={t.contentType}>{request.content_type}</Fact>}
            <Fact name={t.timeout}>{duration(request.timeout_ms)}</Fact>
          </Facts>
          <Text>{t.respond({ timeout: duration(request.timeout_ms) })}</Text>
          <Text>{t.sameBody}</Text>
        </div>
      </Panel>
      <Panel title={t.headers} isFlush>
        <DataTable
          label={t.headers}
          rows={request.headers}
          keyOf={({ name }) => name}
          columns={headerColumns()}
        />
      </Panel>
      <Panel title={t.body}>
        <CodeView label={t.body} text={request.body} isJson />
      </Panel>
      {signatures.some(({ scheme }) => !isByKeyPair(scheme)) && (
        <Panel title={t.verifySignatures}>
          <ShownEncodingChoice />
        </Panel>
      )}
      {signatures.map((signature) => (
        <SignaturePanel key={signature.scheme} signature={signature} />
      ))}
      <Panel title={t.responses} isFlush>
        <DataTable
          label={t.responses}
          rows={responseRows(contract)}
          keyOf={({ status }) => status}
          columns={[
            { key: "status", head: t.status, cell: ({ status }) => <Wrapped>{status}</Wrapped> },
            { key: "result", head: t.result, cell: ({ effect }) => <Wrapped>{effect}</Wrapped> },
          ]}
        />
      </Panel>
      <Retries contract={contract} />
      <Panel title={t.failures}>
        <Text>{failureTexts(contract).join(" ")}</Text>
      </Panel>
      <Panel title={t.pace}>
        <Text>{paceTexts(contract).join(" ")}</Text>
      </Panel>
      <Panel title={t.ordering}>
        <Text>
          {contract.ordering.mode === "fifo" ? `${t.fifo} ${t[contract.ordering.on_dead]}` : t.unordered}
        </Text>
      </Panel>
      <Panel title={t.duplicates}>
        <Text>{duplicateTexts(contract).join(" ")}</Text>
      </Panel>
    </>
  );
}

function Text({ children }: { readonly children: ReactNode }) {
  return <p className="max-w-prose">{children}</p>;
}

/** Table cells are cut off otherwise. */
function Wrapped({ children }: { readonly children: string }) {
  return <span className="whitespace-normal">{children}</span>;
}

function headerColumns(): readonly Column<Header>[] {
  const code = (text: string) => <code className="font-mono text-xs break-all">{text}</code>;
  return [
    {
      key: "name",
      head: t.name,
      cell: ({ name }) => code(name),
      below: ({ meaning }) => <span className="sm:hidden">{t.meanings[meaning]}</span>,
    },
    {
      key: "meaning",
      head: t.meaning,
      from: "sm",
      cell: ({ meaning }) => <Wrapped>{t.meanings[meaning]}</Wrapped>,
    },
    {
      key: "example",
      head: t.example,
      from: "md",
      cell: ({ example }) =>
        example === null ? "–" : <span className="whitespace-normal">{code(example)}</span>,
    },
  ];
}

function responseRows({ responses, errors }: DeliveryContract) {
  return [
    ...responses.map((response) => ({ status: statusText(response), effect: effectText(response) })),
    ...errors.map(({ errors: names, result }) => ({
      status: `${t.noResponse}: ${names.join(", ")}`,
      effect: t.results[result],
    })),
  ];
}

function statusText({ statuses, retry_after }: Response): string {
  const status = statuses.map(({ from, to }) => (from === to ? from : `${from}–${to}`)).join(", ");
  return retry_after === "required" ? t.withRetryAfter({ status }) : status;
}

function effectText({ result, retry_after, pauses_endpoint }: Response): string {
  const notes = [retry_after === "honored" && t.honored, pauses_endpoint && t.pauses].filter(Boolean);
  return [`${t.results[result]}${notes.length > 0 ? "." : ""}`, ...notes].join(" ");
}

function Retries({ contract: { retries, duplicates } }: { readonly contract: DeliveryContract }) {
  const { waits, max_attempts, max_age_ms } = retries;
  if (waits.length === 0)
    return (
      <Panel title={t.retries}>
        <Text>{t.noRetries}</Text>
      </Panel>
    );
  return (
    <Panel title={t.retries} isFlush>
      <p className="max-w-prose p-4">
        {t.attempts({ count: max_attempts })} {t.total({ total: duration(duplicates.retried_for_ms) })}{" "}
        {max_age_ms !== null && `${t.maxAge({ age: duration(max_age_ms) })} `}
        {t.afterwards}
      </p>
      <DataTable
        label={t.retries}
        rows={waits.map((wait, index) => ({ ...wait, number: index + 2 }))}
        keyOf={({ number }) => String(number)}
        columns={[
          { key: "attempt", head: t.attempt, isNumber: true, cell: ({ number }) => number },
          {
            key: "wait",
            head: t.wait,
            cell: ({ min_ms, max_ms }) => `${duration(min_ms)} – ${duration(max_ms)}`,
          },
        ]}
      />
    </Panel>
  );
}

function failureTexts({ failures }: DeliveryContract): string[] {
  const circuit = [
    failures.circuit_failures > 0 && t.inARow({ count: failures.circuit_failures }),
    failures.circuit_failures > 0 &&
      failures.circuit_failure_percent > 0 &&
      t.percent({ count: failures.circuit_failure_percent }),
    failures.circuit_failures_per_hour > 0 && t.perHour({ count: failures.circuit_failures_per_hour }),
  ].filter((rule) => rule !== false);
  const disabling = [
    failures.disable_after_failures > 0 && t.inARow({ count: failures.disable_after_failures }),
    failures.disable_after_days > 0 && t.days({ count: failures.disable_after_days }),
  ].filter((rule) => rule !== false);
  return [
    circuit.length === 0
      ? t.noCircuit
      : t.circuit({ rules: anyOf(circuit), pause: duration(failures.circuit_pause_ms) }),
    ...(disabling.length === 0 ? [t.neverDisabled] : [t.disabledAfter({ rules: anyOf(disabling) }), t.kept]),
  ];
}

function anyOf(rules: readonly string[]): string {
  return rules.join(` ${t.or} `);
}

function paceTexts({ pace }: DeliveryContract): string[] {
  const { max_in_flight: count, max_in_flight_burst: burst, rate_limit: rate } = pace;
  return [
    burst > count ? t.growing({ count, burst }) : t.fixedPace({ count }),
    ...(rate === null ? [] : [t.rate({ rate })]),
  ];
}

function duplicateTexts({ duplicates }: DeliveryContract): string[] {
  const { id_header, id_in_body, retried_for_ms, replayable_days } = duplicates;
  const places = [
    id_header !== null && t.theHeader({ name: id_header }),
    id_in_body !== null && t.theMember({ name: id_in_body }),
  ].filter((place) => place !== false);
  return [
    t.atLeastOnce,
    places.length === 0 ? t.noId : t.idIn({ places: anyOf(places) }),
    t.remember({ time: duration(retried_for_ms), days: replayable_days }),
  ];
}
