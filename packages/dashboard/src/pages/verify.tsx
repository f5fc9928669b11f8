// Verifies a pasted request in the browser. Neither the request nor the secret is sent anywhere.
import { examine, type Finding, signedBy } from "@posthorn/wire";
import { type FormEvent, useState } from "react";
import { defineTexts, useTexts } from "../app/texts.ts";
import { VerifySnippets } from "../components/endpoint/verify-snippets.tsx";
import { Badge } from "../components/ui/badge.tsx";
import { Button } from "../components/ui/button.tsx";
import { TextArea, TextField } from "../components/ui/field.tsx";
import { Page, Panel } from "../components/ui/panel.tsx";
import { type PastedRequest, readPastedRequest } from "../format/pasted-request.ts";

const texts = defineTexts({
  en: {
    title: "Verify signature",
    lead: "Paste a request that your receiver got. It is verified in your browser and not sent anywhere.",
    request: "Request",
    requestHint: "Headers, an empty line and the unmodified body; or a curl command.",
    secret: "Secret",
    secretHint: "The endpoint's secret: whsec_…, whpk_… for a key pair, or that of another service.",
    url: "URL",
    urlHint: "Only needed if the signature covers the URL and the request does not contain it.",
    prefix: "Header prefix",
    check: "Verify",
    noRequest: "No headers found.",
    genuine: "Valid signature",
    notGenuine: "Invalid signature",
    refusals: {
      header_missing: (hint: string) => hint,
      malformed: (hint: string) => hint,
      no_match: (hint: string) => hint,
      body_changed: (hint: string) => hint,
      too_old: (hint: string) => hint,
      too_new: (hint: string) => hint,
      url_missing: (hint: string) => hint,
    } satisfies Record<Reason, (hint: string) => string>,
    noSignature:
      "No known signature header found. Check the header prefix, and that the whole request was pasted.",
    noSecret: (schemes: string) =>
      `The request is signed with ${schemes}, which needs another kind of secret: whsec_… for HMAC, whpk_… for key pairs.`,
    message: "The request has an HTTP Message Signature (RFC 9421). Verify it with an RFC 9421 library.",
    late: "The timestamp is not checked.",
  },
  de: {
    title: "Signatur prüfen",
    lead: "Fügen Sie eine Anfrage ein, die Ihr Empfänger erhalten hat. Sie wird im Browser geprüft und nicht gesendet.",
    request: "Anfrage",
    requestHint: "Header, eine leere Zeile und der unveränderte Body; oder ein curl-Befehl.",
    secret: "Secret",
    secretHint:
      "Das Secret des Endpunkts: whsec_…, whpk_… bei Schlüsselpaaren oder das eines anderen Dienstes.",
    url: "URL",
    urlHint: "Nur nötig, wenn die Signatur die URL umfasst und die Anfrage sie nicht enthält.",
    prefix: "Header-Präfix",
    check: "Prüfen",
    noRequest: "Keine Header gefunden.",
    genuine: "Gültige Signatur",
    notGenuine: "Ungültige Signatur",
    refusals: {
      header_missing: (hint: string) => `Ein Header mit der Signatur fehlt (${hint})`,
      malformed: (hint: string) => `Die Signatur ist nicht lesbar (${hint})`,
      no_match: () =>
        "Keine Signatur passt zu diesem Secret. Es gehört zu einem anderen Endpunkt, wurde rotiert, oder der Body wurde verändert: Prüfen Sie die unveränderten Bytes vor dem Parsen",
      body_changed: (hint: string) => `Das Secret stimmt, aber der Body wurde verändert (${hint})`,
      too_old: (hint: string) => `Der Zeitstempel ist zu alt (${hint})`,
      too_new: (hint: string) => `Der Zeitstempel liegt in der Zukunft (${hint})`,
      url_missing: () => "Die Signatur umfasst die URL: Geben Sie die URL der Anfrage an",
    },
    noSignature:
      "Kein bekannter Signatur-Header gefunden. Prüfen Sie das Header-Präfix und ob die ganze Anfrage eingefügt wurde.",
    noSecret: (schemes: string) =>
      `Die Anfrage ist mit ${schemes} signiert und benötigt ein anderes Secret: whsec_… für HMAC, whpk_… für Schlüsselpaare.`,
    message:
      "Die Anfrage hat eine HTTP Message Signature (RFC 9421). Prüfen Sie sie mit einer RFC-9421-Bibliothek.",
    late: "Der Zeitstempel wird nicht geprüft.",
  },
});

type Reason = NonNullable<Finding["reason"]>;

/** The findings, or why the request cannot be verified here. */
type Verdict =
  | { readonly findings: readonly Finding[] }
  | { readonly nothing: "noSignature" | "message" }
  | { readonly nothing: "noSecret"; readonly schemes: string };

const DEFAULT_PREFIX = "X-Webhook";

export function Verify() {
  const t = useTexts(texts);
  const [text, setText] = useState("");
  const [secret, setSecret] = useState("");
  const [url, setUrl] = useState("");
  const [prefix, setPrefix] = useState(DEFAULT_PREFIX);
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const [isNone, setNone] = useState(false);
  const check = async (event: FormEvent) => {
    event.preventDefault();
    const pasted = readPastedRequest(text);
    setNone(pasted === null);
    setVerdict(pasted === null ? null : await judge(pasted, secret.trim(), prefix.trim(), url.trim()));
  };
  return (
    <Page title={t.title} lead={t.lead}>
      <Panel>
        <form onSubmit={(event) => void check(event)} className="flex flex-col gap-3">
          <TextArea
            label={t.request}
            hint={t.requestHint}
            problem={isNone ? t.noRequest : undefined}
            required
            rows={12}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          <div className="grid gap-3 sm:grid-cols-3">
            <TextField
              label={t.secret}
              hint={t.secretHint}
              required
              autoComplete="off"
              value={secret}
              onChange={(event) => setSecret(event.target.value)}
            />
            <TextField
              label={t.url}
              hint={t.urlHint}
              inputMode="url"
              value={url}
              onChange={(event) => setUrl(event.target.value)}
            />
            <TextField label={t.prefix} value={prefix} onChange={(event) => setPrefix(event.target.value)} />
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
      <VerifySnippets prefix={prefix} />
    </Page>
  );
}

function VerdictView({ verdict }: { readonly verdict: Verdict }) {
  const t = useTexts(texts);
  if ("nothing" in verdict) {
    const message = verdict.nothing === "noSecret" ? t.noSecret(verdict.schemes) : t[verdict.nothing];
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
            <p className="break-words first-letter:uppercase">{t.refusals[reason](message)}</p>
          )}
        </div>
      ))}
      <p className="text-xs text-muted">{t.late}</p>
    </>
  );
}

async function judge(pasted: PastedRequest, secret: string, prefix: string, url: string): Promise<Verdict> {
  const request = {
    headers: pasted.headers,
    body: new TextEncoder().encode(pasted.body),
    method: pasted.method,
    url: url === "" ? pasted.url : url,
    secrets: [secret],
    headerPrefix: prefix === "" ? DEFAULT_PREFIX : prefix,
    toleranceSeconds: Number.POSITIVE_INFINITY,
  };
  const findings = await examine(request);
  if (findings.length > 0) return { findings };
  const signed = signedBy(request);
  if (signed.length > 0) return { nothing: "noSecret", schemes: signed.map(({ name }) => name).join(", ") };
  return { nothing: "signature-input" in pasted.headers ? "message" : "noSignature" };
}
