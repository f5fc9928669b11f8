// The parts of a request to an endpoint: body, signatures, token and public keys.
import type { Endpoint } from "@posthorn/client";
import { Link } from "@tanstack/react-router";
import { defineTexts, useLanguage, useTexts } from "../../app/texts.ts";
import { formatTexts } from "../../format/format-texts.ts";
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
      `At most ${events} events or ${size}, sent at most ${delay} after the first event.`,
    signature: "Signature",
    verify: "How to verify",
    keys: "Public keys",
    token: "Token",
    tokens: {
      bearer: "Set. Sent in the Authorization header.",
      query: "Set. Sent as access_token in the URL.",
    },
  },
  de: {
    body: "Body",
    batch: "Batches",
    bounds: (events: string, size: string, delay: string) =>
      `Höchstens ${events} Ereignisse oder ${size}, spätestens ${delay} nach dem ersten Ereignis.`,
    signature: "Signatur",
    verify: "So wird geprüft",
    keys: "Öffentliche Schlüssel",
    token: "Token",
    tokens: {
      bearer: "Gesetzt. Wird im Header Authorization gesendet.",
      query: "Gesetzt. Wird als access_token in der URL gesendet.",
    },
  },
});

/** Facts of a definition list. */
export function RequestFacts({ endpoint }: { readonly endpoint: Endpoint }) {
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
