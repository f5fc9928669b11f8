// Code for a receiver, to fit the scheme that its endpoint signs by.
import { useState } from "react";
import { useFilters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { headersOf, isByKeyPair, kindOf, SCHEMES_BY_KIND, signsUrl } from "../../format/signature-schemes.ts";
import { SNIPPETS, type SnippetLanguage, snippetFor } from "../../snippets/snippets.ts";
import { CodeView } from "../ui/json-view.tsx";
import { Panel } from "../ui/panel.tsx";

const texts = defineTexts({
  en: {
    title: "How your receiver verifies",
    lead: "Take the raw bytes of the body. The secret is the one of the endpoint.",
    scheme: "Signed by",
    language: "Code in",
    header: "The signature is in",
    standard: "Every library of Standard Webhooks verifies it, too.",
    vendor: (name: string) => `It is signed exactly as ${name} does: a library for ${name} verifies it, too.`,
    message: "Take a library of RFC 9421 for your language. It binds method and URL as well.",
    keyPair: "In place of a secret, verify with the public key that the endpoint's page shows.",
    url: "The URL is signed, too: give the one that your endpoint is called by, not what a proxy made of it.",
  },
  de: {
    title: "Wie Ihr Empfänger prüft",
    lead: "Nehmen Sie die rohen Bytes des Inhalts. Das Geheimnis ist das des Endpunkts.",
    scheme: "Signiert mit",
    language: "Code in",
    header: "Die Signatur steht in",
    standard: "Auch jede Bibliothek für Standard Webhooks prüft sie.",
    vendor: (name: string) =>
      `Signiert wird genau wie bei ${name}: Auch eine Bibliothek für ${name} prüft es.`,
    message: "Nehmen Sie eine Bibliothek für RFC 9421 in Ihrer Sprache. Sie bindet auch Methode und URL.",
    keyPair: "Statt eines Geheimnisses dient der öffentliche Schlüssel, den die Seite des Endpunkts zeigt.",
    url: "Auch die URL ist signiert: die, unter der Ihr Endpunkt angerufen wird, nicht was ein Proxy daraus macht.",
  },
});

const USUAL = "t-v1";
const SCHEMES = Object.values(SCHEMES_BY_KIND).flat();
const SELECT = "rounded-md border border-line bg-surface px-2 py-1";

export function VerifySnippets({ prefix }: { readonly prefix: string }) {
  const t = useTexts(texts);
  const { filters, set } = useFilters();
  const [language, setLanguage] = useState<SnippetLanguage>("TypeScript");
  const scheme = SCHEMES.find((name) => name === filters.scheme) ?? USUAL;
  const kind = kindOf(scheme);
  const notes = [
    kind === "vendor" && t.vendor(scheme),
    kind === "message" && t.message,
    scheme.startsWith("standard-webhooks") && t.standard,
    isByKeyPair(scheme) && t.keyPair,
    kind !== "message" && signsUrl(scheme) && t.url,
  ].filter((note) => note !== false);
  return (
    <Panel
      title={t.title}
      actions={
        <>
          <select
            aria-label={t.scheme}
            value={scheme}
            onChange={(event) => set({ scheme: event.target.value })}
            className={SELECT}
          >
            {SCHEMES.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
          {scheme === USUAL && (
            <select
              aria-label={t.language}
              value={language}
              onChange={(event) => setLanguage(event.target.value as SnippetLanguage)}
              className={SELECT}
            >
              {Object.keys(SNIPPETS).map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          )}
        </>
      }
    >
      <p className="pb-2 text-muted">
        {t.lead} {t.header} <code className="font-mono text-xs">{headersOf(scheme, prefix)[0]}</code>.{" "}
        {notes.join(" ")}
      </p>
      {scheme === USUAL && <CodeView label={language} text={SNIPPETS[language]} />}
      {scheme !== USUAL && kind !== "message" && <CodeView label="TypeScript" text={snippetFor(scheme)} />}
    </Panel>
  );
}
