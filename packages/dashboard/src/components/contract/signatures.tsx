// How a receiver verifies the signatures of a delivery contract, with code in several languages.
import type { DeliveryContract } from "@posthorn/client";
import { useState } from "react";
import { defineTexts } from "../../app/texts.ts";
import { kindOf } from "../../format/signature-schemes.ts";
import { duration } from "../../format/time.ts";
import { Select } from "../ui/field.tsx";
import { CodeView } from "../ui/json-view.tsx";
import { Fact, Facts, Panel } from "../ui/page.tsx";

type Signature = DeliveryContract["signatures"][number];
type SchemeFacts = NonNullable<Signature["facts"]>;

const t = defineTexts({
  title: ["Verify signatures: {scheme}", "Signaturen prüfen: {scheme}"],
  header: ["Signature header", "Signatur-Header"],
  algorithm: ["Algorithm", "Algorithmus"],
  signed: ["Signed text", "Signierter Text"],
  format: ["Header format", "Format des Headers"],
  key: ["Key", "Schlüssel"],
  keys: {
    text: [
      "the whole secret as text (UTF-8), including a leading whsec_",
      "das ganze Secret als Text (UTF-8), einschließlich whsec_ am Anfang",
    ],
    base64: [
      "the secret without a leading whsec_, decoded from Base64",
      "das Secret ohne whsec_ am Anfang, aus Base64 dekodiert",
    ],
    hex: ["the secret, decoded from hexadecimal", "das Secret, aus Hexadezimal dekodiert"],
    ed25519: [
      "the public key on the endpoint's page: what follows whpk_, decoded from Base64",
      "der öffentliche Schlüssel von der Seite des Endpunkts: der Teil nach whpk_, aus Base64 dekodiert",
    ],
  },
  time: ["Timestamp", "Zeitstempel"],
  timeFormats: {
    seconds: ["seconds", "Sekunden"],
    milliseconds: ["milliseconds", "Millisekunden"],
    rfc3339: "RFC 3339",
  },
  tolerance: ["reject if off by more than {tolerance}", "ablehnen, wenn er mehr als {tolerance} abweicht"],
  noTime: [
    "Not signed: only remembered event ids prevent a replay.",
    "Nicht signiert: Nur gemerkte Ereignis-IDs verhindern eine Wiederholung.",
  ],
  token: [
    "Nothing is signed: the header contains the secret. Compare it in constant time.",
    "Nichts ist signiert: Der Header enthält das Secret. Vergleichen Sie es in konstanter Zeit.",
  ],
  many: [
    "During a rotation there are several signatures; one match is sufficient.",
    "Während einer Rotation gibt es mehrere Signaturen; eine passende genügt.",
  ],
  next: [
    "During a rotation the header has the signature with the old secret, and {name} the one with the new secret.",
    "Während einer Rotation hat der Header die Signatur mit dem alten Secret und {name} die mit dem neuen.",
  ],
  oldFirst: [
    "During a rotation the old secret is used until it expires.",
    "Während einer Rotation gilt das alte Secret, bis es abläuft.",
  ],
  raw: [
    "Verify the raw bytes of the body, before any parser, and compare in constant time.",
    "Prüfen Sie die unveränderten Bytes des Body vor jedem Parser, und vergleichen Sie in konstanter Zeit.",
  ],
  url: [
    "The signature covers the URL: use the endpoint's public URL, not one rewritten by a proxy.",
    "Die Signatur umfasst die URL: Verwenden Sie die öffentliche URL des Endpunkts, nicht eine von einem Proxy umgeschriebene.",
  ],
  message: [
    "The signature covers method, URL, content type, digest of the body, event id and timestamp. RFC 9421 libraries can also verify it.",
    "Die Signatur umfasst Methode, URL, Inhaltstyp, Hash des Body, Ereignis-ID und Zeitstempel. Auch Bibliotheken für RFC 9421 können sie prüfen.",
  ],
  standard: [
    "Standard Webhooks libraries can also verify it.",
    "Auch Bibliotheken für Standard Webhooks können sie prüfen.",
  ],
  vendor: [
    "Requests are signed like those of {name}; libraries for {name} can verify them.",
    "Anfragen werden wie bei {name} signiert; Bibliotheken für {name} können sie prüfen.",
  ],
  programmingLanguage: ["Programming language", "Programmiersprache"],
});

export function SignaturePanel({ signature }: { readonly signature: Signature }) {
  const { scheme, facts, snippets } = signature;
  const [chosen, setChosen] = useState("TypeScript");
  const snippet = snippets.find(({ language }) => language === chosen) ?? snippets[0];
  const notes = [
    facts?.algorithm === "token" ? t.token : t.raw,
    facts === null ? `${t.message} ${t.many}` : rotationText(facts),
    (facts === null || facts.signed.includes("{url}")) && t.url,
    scheme.startsWith("standard-webhooks") && t.standard,
    kindOf(scheme) === "vendor" && t.vendor({ name: scheme }),
  ].filter(Boolean);
  return (
    <Panel
      title={t.title({ scheme })}
      actions={
        snippets.length > 0 && (
          <Select
            aria-label={t.programmingLanguage}
            options={snippets.map(({ language }) => [language, language])}
            value={snippet?.language}
            onChange={(event) => setChosen(event.target.value)}
            className="py-1"
          />
        )
      }
    >
      <div className="flex flex-col gap-3">
        {facts !== null && <SchemeFactsView facts={facts} />}
        <p className="max-w-prose text-muted">{notes.join(" ")}</p>
        {snippet !== undefined && <CodeView label={`${snippet.language}: ${scheme}`} text={snippet.code} />}
      </div>
    </Panel>
  );
}

function rotationText({ holds_many, next_signature_header: name }: SchemeFacts): string {
  if (holds_many) return t.many;
  return name === null ? t.oldFirst : t.next({ name });
}

function SchemeFactsView({ facts }: { readonly facts: SchemeFacts }) {
  const { algorithm, signature_header, signature_prefix, separator, timestamp, encoding } = facts;
  const time = timestamp?.header ?? (timestamp?.prefix && `${timestamp.prefix}…`) ?? facts.time_in_body;
  const inTime = timestamp?.prefix ? `${timestamp.prefix}<${timestamp.format}>${separator}` : "";
  return (
    <Facts>
      <Fact name={t.header}>
        <Code>{signature_header}</Code>
      </Fact>
      <Fact name={t.algorithm}>{algorithm}</Fact>
      {algorithm !== "token" && (
        <>
          <Fact name={t.signed}>
            <Code>{facts.signed.join("")}</Code>
          </Fact>
          <Fact name={t.format}>
            <Code>{`${inTime}${signature_prefix}<${encoding}>`}</Code>
          </Fact>
          <Fact name={t.key}>{t.keys[facts.key]}</Fact>
          <Fact name={t.time}>
            {facts.tolerance_seconds === null ? (
              t.noTime
            ) : (
              <>
                <Code>{time}</Code>
                {`${timestamp === null ? "" : `, ${t.timeFormats[timestamp.format]}`}: ${t.tolerance({ tolerance: duration(facts.tolerance_seconds * 1_000) })}`}
              </>
            )}
          </Fact>
        </>
      )}
    </Facts>
  );
}

function Code({ children }: { readonly children: string | null | undefined }) {
  return <code className="font-mono text-xs break-all">{children}</code>;
}
