// Verifies a pasted request in the browser, and shows code that verifies signatures. Neither the request nor the secret
// is sent anywhere.
import { examine, type Finding, signedBy } from "@posthorn/wire";
import { keepPreviousData } from "@tanstack/react-query";
import { useState } from "react";
import { useApi } from "../api/use-api.ts";
import { useFilters } from "../app/filters.ts";
import { defineTexts } from "../app/texts.ts";
import { SignaturePanel } from "../components/contract/signatures.tsx";
import { ShownEncodingChoice, useShownEncoding } from "../components/endpoint/secret-encoding.tsx";
import { Badge } from "../components/ui/badge.tsx";
import { Button } from "../components/ui/button.tsx";
import { Choice, fieldsIn, submitted, TextArea, TextField } from "../components/ui/field.tsx";
import { NotLoaded, Page, Panel } from "../components/ui/page.tsx";
import { type PastedRequest, readPastedRequest } from "../format/pasted-request.ts";
import { isByKeyPair, SCHEMES_BY_KIND } from "../format/signature-schemes.ts";

const t = defineTexts({
  lead: [
    "Paste a request that reached your receiver. It is verified in your browser and not sent anywhere.",
    "Fügen Sie eine Anfrage ein, die Ihr Empfänger erhalten hat. Sie wird im Browser geprüft und verlässt ihn nicht.",
  ],
  requestHint: [
    "Headers, an empty line and the unmodified body; or a curl command.",
    "Header, eine leere Zeile und der unveränderte Body; oder ein curl-Befehl.",
  ],
  secretHint: [
    "The endpoint's secret: whsec_…, whpk_… for a key pair, or that of another service.",
    "Das Secret des Endpunkts: whsec_…, whpk_… bei Schlüsselpaaren oder das eines anderen Dienstes.",
  ],
  urlHint: [
    "Only needed if the signature covers the URL and the request does not contain it.",
    "Nur nötig, wenn die Signatur die URL umfasst und die Anfrage sie nicht enthält.",
  ],
  check: ["Verify", "Prüfen"],
  noRequest: ["No headers found.", "Keine Header gefunden."],
  genuine: ["Valid signature", "Gültige Signatur"],
  notGenuine: ["Invalid signature", "Ungültige Signatur"],
  refusals: {
    header_missing: ["{hint}", "Ein Header mit der Signatur fehlt ({hint})"],
    malformed: ["{hint}", "Die Signatur ist nicht lesbar ({hint})"],
    no_match: [
      "{hint}",
      "Keine Signatur passt zu diesem Secret. Es gehört zu einem anderen Endpunkt, wurde rotiert, oder der Body wurde verändert: Prüfen Sie die unveränderten Bytes vor dem Parsen",
    ],
    body_changed: ["{hint}", "Das Secret stimmt, aber der Body wurde verändert ({hint})"],
    too_old: ["{hint}", "Der Zeitstempel ist zu alt ({hint})"],
    too_new: ["{hint}", "Der Zeitstempel liegt in der Zukunft ({hint})"],
    url_missing: ["{hint}", "Die Signatur umfasst die URL: Geben Sie die URL der Anfrage an"],
  },
  noSignature: [
    "No known signature header found. Check the header prefix, and that the whole request was pasted.",
    "Kein bekannter Signatur-Header gefunden. Prüfen Sie das Header-Präfix und ob die ganze Anfrage eingefügt wurde.",
  ],
  noSecret: [
    "The request is signed with {schemes}, which needs another kind of secret: whsec_… for HMAC, whpk_… for key pairs.",
    "Die Anfrage ist mit {schemes} signiert und benötigt ein anderes Secret: whsec_… für HMAC, whpk_… für Schlüsselpaare.",
  ],
  message: [
    "The request has an HTTP Message Signature (RFC 9421). Verify it with an RFC 9421 library.",
    "Die Anfrage hat eine HTTP Message Signature (RFC 9421). Prüfen Sie sie mit einer RFC-9421-Bibliothek.",
  ],
  late: ["The timestamp is not checked.", "Der Zeitstempel wird nicht geprüft."],
  snippets: ["Verify signatures in your receiver", "Signaturen im Empfänger prüfen"],
  scheme: ["Signature scheme", "Signaturverfahren"],
});

/** The findings, or why the request cannot be verified here. */
type Verdict =
  | { readonly findings: readonly Finding[] }
  | { readonly nothing: "noSignature" | "message" }
  | { readonly nothing: "noSecret"; readonly schemes: string };

export function Verify() {
  const [form, setForm] = useState({ text: "", secret: "", url: "", prefix: "" });
  // of the endpoints that set none
  const usualPrefix = useApi("deliveryContracts.get", {}).data?.request.header_prefix;
  const field = fieldsIn({ form, onChange: setForm });
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [isNone, setNone] = useState(false);
  const check = async () => {
    const { text, secret, url, prefix } = form;
    const pasted = readPastedRequest(text);
    setNone(pasted === null);
    const headerPrefix = prefix.trim() || usualPrefix;
    setVerdict(pasted === null ? null : await judge(pasted, secret.trim(), headerPrefix, url.trim()));
  };
  return (
    <Page title={t.verifySignature} lead={t.lead}>
      <Panel>
        <form onSubmit={submitted(check)} className="flex flex-col gap-3">
          <TextArea
            label={t.request}
            hint={t.requestHint}
            required
            rows={12}
            {...field("text")}
            problem={isNone ? t.noRequest : undefined}
          />
          <div className="grid gap-3 sm:grid-cols-3">
            <TextField
              label={t.secret}
              hint={t.secretHint}
              required
              autoComplete="off"
              {...field("secret")}
            />
            <TextField label={t.url} hint={t.urlHint} inputMode="url" {...field("url")} />
            <TextField label={t.headerPrefix} placeholder={usualPrefix} {...field("prefix")} />
          </div>
          <div>
            <Button kind="primary" type="submit">
              {t.check}
            </Button>
          </div>
        </form>
        <div role="status" className="flex flex-col gap-2 pt-3">
          {verdict !== null && <VerdictView verdict={verdict} />}
        </div>
      </Panel>
      <VerifySnippets prefix={form.prefix.trim()} />
    </Page>
  );
}

function VerdictView({ verdict }: { readonly verdict: Verdict }) {
  if ("nothing" in verdict) {
    const message =
      verdict.nothing === "noSecret" ? t.noSecret({ schemes: verdict.schemes }) : t[verdict.nothing];
    return <p className="break-words text-warn">{message}</p>;
  }
  return (
    <>
      {verdict.findings.map(({ scheme, ok, reason, message }) => (
        <div key={scheme}>
          <Badge tone={ok ? "ok" : "bad"} icon={ok ? "check" : "dead"}>
            {scheme}: {ok ? t.genuine : t.notGenuine}
          </Badge>
          {reason !== null && (
            <p className="break-words first-letter:uppercase">{t.refusals[reason]({ hint: message })}</p>
          )}
        </div>
      ))}
      <p className="text-xs text-muted">{t.late}</p>
    </>
  );
}

async function judge(
  pasted: PastedRequest,
  secret: string,
  headerPrefix: string | undefined,
  url: string,
): Promise<Verdict> {
  const request = {
    headers: pasted.headers,
    body: new TextEncoder().encode(pasted.body),
    method: pasted.method,
    url: url === "" ? pasted.url : url,
    secrets: [secret],
    ...(headerPrefix !== undefined && { headerPrefix }),
    toleranceSeconds: Number.POSITIVE_INFINITY,
  };
  const findings = await examine(request);
  if (findings.length > 0) return { findings };
  const signed = signedBy(request);
  if (signed.length > 0) return { nothing: "noSecret", schemes: signed.map(({ name }) => name).join(", ") };
  return { nothing: "signature-input" in pasted.headers ? "message" : "noSignature" };
}

const SCHEMES = Object.values(SCHEMES_BY_KIND).flat();

/** Code for the deployment's first scheme, or for another one. */
function VerifySnippets({ prefix }: { readonly prefix: string }) {
  const { filters, set } = useFilters();
  const encoding = useShownEncoding();
  const query = useApi(
    "deliveryContracts.get",
    {
      query: {
        scheme: filters.scheme,
        header_prefix: prefix === "" ? undefined : prefix,
        secret_encoding: encoding,
      },
    },
    { placeholderData: keepPreviousData },
  );
  const [signature] = query.data?.signatures ?? [];
  if (signature === undefined) return <NotLoaded query={query} />;
  return (
    <>
      <Panel title={t.snippets}>
        <div className="grid gap-3 sm:grid-cols-2">
          <Choice
            label={t.scheme}
            // a scheme with a label of its own is not in the list
            options={[...new Set([...SCHEMES, signature.scheme])].map((name) => [name, name])}
            value={signature.scheme}
            onChange={(event) => set({ scheme: event.target.value })}
          />
          {!isByKeyPair(signature.scheme) && <ShownEncodingChoice />}
        </div>
      </Panel>
      <SignaturePanel signature={signature} />
    </>
  );
}
