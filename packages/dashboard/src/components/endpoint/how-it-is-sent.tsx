// What a request to an endpoint is made of: its body, its signatures with their headers, the token, the public keys.
import type { Endpoint } from "@posthorn/client";
import { Link } from "@tanstack/react-router";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { formatTexts } from "../../format/endpoint-words.ts";
import { bytes, whole } from "../../format/number.ts";
import { headersOf, isByKeyPair } from "../../format/signature-schemes.ts";
import { duration } from "../../format/time.ts";
import { Fact } from "../ui/panel.tsx";
import { PublicKeys } from "./public-keys.tsx";

const texts = defineTexts({
  en: {
    body: "Body",
    batch: "Batches",
    bounds: (events: string, size: string, delay: string) =>
      `At most ${events} events and ${size}, and ${delay} after the first of them.`,
    signature: "Signed by",
    verify: "How to verify it",
    keys: "Public keys",
    token: "Token",
    tokens: {
      bearer: "Set: it goes in the Authorization header, and nobody is shown it.",
      query: "Set: it goes as access_token in the URL, and nobody is shown it.",
    },
  },
  de: {
    body: "Inhalt",
    batch: "Stapel",
    bounds: (events: string, size: string, delay: string) =>
      `Höchstens ${events} Ereignisse und ${size}, und ${delay} nach dem ersten davon.`,
    signature: "Signiert mit",
    verify: "Wie es geprüft wird",
    keys: "Öffentliche Schlüssel",
    token: "Token",
    tokens: {
      bearer: "Gesetzt: Es geht im Header Authorization mit, und niemand bekommt es zu sehen.",
      query: "Gesetzt: Es geht als access_token in der URL mit, und niemand bekommt es zu sehen.",
    },
  },
});

/** Rows for a list of facts. */
export function HowItIsSent({ endpoint }: { readonly endpoint: Endpoint }) {
  const t = useTexts(texts);
  const sentences = useTexts(formatTexts);
  const language = useLanguage();
  const { format, batch, signature, authorization } = endpoint;
  return (
    <>
      <Fact name={t.body}>
        {format}. <span className="text-muted">{sentences[format]}</span>
      </Fact>
      {format === "cloudevents-batch" && (
        <Fact name={t.batch}>
          {t.bounds(
            whole(batch.max_events, language),
            bytes(batch.max_bytes, language),
            duration(batch.max_delay_ms),
          )}
        </Fact>
      )}
      <Fact name={t.signature}>
        <ul>
          {signature.schemes.map((scheme) => (
            <li key={scheme}>
              {scheme}{" "}
              <code className="font-mono text-xs break-all text-muted">
                {headersOf(scheme, signature.header_prefix).join(", ")}
              </code>{" "}
              <Link to="/verify" search={{ scheme }} className="text-sm underline">
                {t.verify}
              </Link>
            </li>
          ))}
        </ul>
      </Fact>
      {signature.schemes.some(isByKeyPair) && (
        <Fact name={t.keys}>
          <PublicKeys endpoint={endpoint.id} />
        </Fact>
      )}
      {authorization !== null && <Fact name={t.token}>{t.tokens[authorization.type]}</Fact>}
    </>
  );
}
