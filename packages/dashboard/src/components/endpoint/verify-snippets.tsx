// Example code that verifies signatures, per scheme and language.
import { useState } from "react";
import { useFilters } from "../../app/filters.ts";
import { defineTexts, useTexts } from "../../app/texts.ts";
import { headersOf, isByKeyPair, kindOf, SCHEMES_BY_KIND, signsUrl } from "../../format/signature-schemes.ts";
import { SNIPPETS, type SnippetLanguage, snippetFor } from "../../snippets/snippets.ts";
import { CodeView } from "../ui/json-view.tsx";
import { Panel } from "../ui/panel.tsx";

const texts = defineTexts({
  en: {
    title: "Verify signatures in your receiver",
    lead: "Verify the raw bytes of the body with the endpoint's secret.",
    scheme: "Signature scheme",
    language: "Language",
    header: "The signature is in",
    standard: "Standard Webhooks libraries can also verify it.",
    vendor: (name: string) =>
      `Requests are signed like those of ${name}; libraries for ${name} can verify them.`,
    message: "Use an RFC 9421 library for your language. The signature also covers method and URL.",
    keyPair: "Instead of a secret, use the public key shown on the endpoint's page.",
    url: "The signature covers the URL: use the endpoint's public URL, not one rewritten by a proxy.",
  },
  de: {
    title: "Signaturen im Empfänger prüfen",
    lead: "Prüfen Sie die unveränderten Bytes des Body mit dem Secret des Endpunkts.",
    scheme: "Signaturverfahren",
    language: "Sprache",
    header: "Die Signatur steht in",
    standard: "Auch Bibliotheken für Standard Webhooks können sie prüfen.",
    vendor: (name: string) =>
      `Anfragen werden wie bei ${name} signiert; Bibliotheken für ${name} können sie prüfen.`,
    message:
      "Verwenden Sie eine Bibliothek für RFC 9421 in Ihrer Sprache. Die Signatur umfasst auch Methode und URL.",
    keyPair: "Verwenden Sie statt eines Secrets den öffentlichen Schlüssel von der Seite des Endpunkts.",
    url: "Die Signatur umfasst die URL: Verwenden Sie die öffentliche URL des Endpunkts, nicht die eines Proxys.",
  },
});

const DEFAULT_SCHEME = "t-v1";
const SCHEMES = Object.values(SCHEMES_BY_KIND).flat();
const SELECT = "rounded-md border border-line bg-surface px-2 py-1";

export function VerifySnippets({ prefix }: { readonly prefix: string }) {
  const t = useTexts(texts);
  const { filters, set } = useFilters();
  const [language, setLanguage] = useState<SnippetLanguage>("TypeScript");
  const scheme = SCHEMES.find((name) => name === filters.scheme) ?? DEFAULT_SCHEME;
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
          {scheme === DEFAULT_SCHEME && (
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
      {scheme === DEFAULT_SCHEME && <CodeView label={language} text={SNIPPETS[language]} />}
      {scheme !== DEFAULT_SCHEME && kind !== "message" && (
        <CodeView label="TypeScript" text={snippetFor(scheme)} />
      )}
    </Panel>
  );
}
