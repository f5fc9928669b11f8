// Paste a request, and see by which scheme it was signed, whether it is genuine, and if not why. It is checked in the
// browser: neither the request nor the secret goes anywhere.
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
    title: "Verify a request",
    lead: "Paste what your receiver got. It is checked here in your browser, and sent nowhere.",
    request: "The request",
    requestHint: "Headers, an empty line, and the body byte for byte; or a curl command.",
    secret: "Secret",
    secretHint: "That of the endpoint: whsec_…, whpk_… for a key pair, or what a vendor's receivers have.",
    url: "Sent to",
    urlHint: "Only where the URL is signed and the request does not say it.",
    prefix: "Prefix of the headers",
    check: "Verify",
    noRequest: "No headers were found in it.",
    genuine: "It is genuine",
    notGenuine: "It is refused",
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
      "There is no header with a signature that is known here. Is the prefix of the headers right, and was the whole request pasted?",
    noSecret: (schemes: string) =>
      `It is signed by ${schemes}, and this secret is of another kind: whsec_… signs, whpk_… verifies what a key pair signed.`,
    message: "It has an HTTP Message Signature (RFC 9421). Verify that with a library of the standard.",
    late: "Its timestamp is not looked at, because what is pasted is always late.",
  },
  de: {
    title: "Anfrage prüfen",
    lead: "Fügen Sie ein, was Ihr Empfänger bekam. Es wird hier im Browser geprüft und nirgendwohin gesendet.",
    request: "Die Anfrage",
    requestHint: "Header, eine leere Zeile, und der Inhalt Byte für Byte; oder ein curl-Befehl.",
    secret: "Geheimnis",
    secretHint:
      "Das des Endpunkts: whsec_…, bei Schlüsselpaaren whpk_…, oder was Empfänger eines anderen Anbieters haben.",
    url: "Gesendet an",
    urlHint: "Nur wo die URL signiert ist und die Anfrage sie nicht nennt.",
    prefix: "Anfang der Header-Namen",
    check: "Prüfen",
    noRequest: "Darin wurden keine Header gefunden.",
    genuine: "Sie ist echt",
    notGenuine: "Sie wird abgelehnt",
    refusals: {
      header_missing: (hint: string) => `Ein Header mit der Signatur fehlt (${hint})`,
      malformed: (hint: string) => `Die Signatur ist nicht lesbar (${hint})`,
      no_match: () =>
        "Keine Signatur passt zu diesem Geheimnis. Es gehört zu einem anderen Endpunkt oder wurde gewechselt, oder der Inhalt wurde verändert: die rohen Bytes prüfen, vor jedem JSON-Parser",
      body_changed: (hint: string) =>
        `Das Geheimnis stimmt, aber der Inhalt wurde unterwegs verändert (${hint})`,
      too_old: (hint: string) => `Der Zeitstempel ist zu alt (${hint})`,
      too_new: (hint: string) => `Der Zeitstempel liegt in der Zukunft (${hint})`,
      url_missing: () => "Auch die URL ist signiert: Geben Sie an, wohin die Anfrage ging",
    },
    noSignature:
      "Es gibt keinen Header mit einer hier bekannten Signatur. Stimmt der Anfang der Header-Namen, und wurde die ganze Anfrage eingefügt?",
    noSecret: (schemes: string) =>
      `Sie ist mit ${schemes} signiert, und dieses Geheimnis ist von anderer Art: whsec_… signiert, whpk_… prüft, was ein Schlüsselpaar signiert hat.`,
    message: "Sie hat eine HTTP Message Signature (RFC 9421). Die prüft eine Bibliothek für den Standard.",
    late: "Ihr Zeitstempel wird nicht geprüft, denn Eingefügtes ist immer zu spät.",
  },
});

type Reason = NonNullable<Finding["reason"]>;

/** What was found, or why nothing was: no signature, one of a standard with libraries of its own, or another kind of key. */
type Verdict =
  | { readonly findings: readonly Finding[] }
  | { readonly nothing: "noSignature" | "message" }
  | { readonly nothing: "noSecret"; readonly schemes: string };

const USUAL_PREFIX = "X-Webhook";

export function Verify() {
  const t = useTexts(texts);
  const [text, setText] = useState("");
  const [secret, setSecret] = useState("");
  const [url, setUrl] = useState("");
  const [prefix, setPrefix] = useState(USUAL_PREFIX);
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
          {verdict !== null && <Told verdict={verdict} />}
        </div>
      </Panel>
      <VerifySnippets prefix={prefix} />
    </Page>
  );
}

function Told({ verdict }: { readonly verdict: Verdict }) {
  const t = useTexts(texts);
  if ("nothing" in verdict) {
    const said = verdict.nothing === "noSecret" ? t.noSecret(verdict.schemes) : t[verdict.nothing];
    return <p className="break-words text-warn">{said}</p>;
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
    headerPrefix: prefix === "" ? USUAL_PREFIX : prefix,
    toleranceSeconds: Number.POSITIVE_INFINITY,
  };
  const findings = await examine(request);
  if (findings.length > 0) return { findings };
  const signed = signedBy(request);
  if (signed.length > 0) return { nothing: "noSecret", schemes: signed.map(({ name }) => name).join(", ") };
  return { nothing: "signature-input" in pasted.headers ? "message" : "noSignature" };
}
