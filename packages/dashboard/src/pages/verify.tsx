// Paste a request, and see whether it is genuine, and if not why. It is checked in the browser: neither the request nor
// the secret goes anywhere.
import { DEFAULT_SCHEMES, explainRefusal, type VerifyFailure, verify } from "@posthorn/wire";
import { type FormEvent, useState } from "react";
import { defineTexts, useTexts } from "../app/texts.ts";
import { Badge } from "../components/badge.tsx";
import { Button } from "../components/button.tsx";
import { TextArea, TextField } from "../components/field.tsx";
import { CodeView } from "../components/json-view.tsx";
import { Page, Panel } from "../components/panel.tsx";
import { readPastedRequest } from "../format/pasted-request.ts";
import { SNIPPETS, type SnippetLanguage } from "../snippets/snippets.ts";

const texts = defineTexts({
  en: {
    title: "Verify a request",
    lead: "Paste what your receiver got. It is checked here in your browser, and sent nowhere.",
    request: "The request",
    requestHint: "Headers, an empty line, and the body byte for byte; or a curl command.",
    secret: "Secret",
    secretHint: "whsec_… of the endpoint.",
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
      unusable_secret: (hint: string) => hint,
    } satisfies Record<Refused, (hint: string) => string>,
    late: "Its timestamp is not looked at, because what is pasted is always late.",
    code: "How your receiver verifies",
    codeLead: "Take the raw bytes of the body. The secret is the one of the endpoint.",
    language: "Code in",
  },
  de: {
    title: "Anfrage prüfen",
    lead: "Fügen Sie ein, was Ihr Empfänger bekam. Es wird hier im Browser geprüft und nirgendwohin gesendet.",
    request: "Die Anfrage",
    requestHint: "Header, eine leere Zeile, und der Inhalt Byte für Byte; oder ein curl-Befehl.",
    secret: "Geheimnis",
    secretHint: "whsec_… des Endpunkts.",
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
      unusable_secret: () => "Mit diesem Geheimnis kann nicht so geprüft werden. Es beginnt mit whsec_",
    },
    late: "Ihr Zeitstempel wird nicht geprüft, denn Eingefügtes ist immer zu spät.",
    code: "Wie Ihr Empfänger prüft",
    codeLead: "Nehmen Sie die rohen Bytes des Inhalts. Das Geheimnis ist das des Endpunkts.",
    language: "Code in",
  },
});

type Refused = VerifyFailure | "unusable_secret";

interface Verdict {
  readonly scheme: string;
  /** Null: it is genuine. */
  readonly refused: { readonly reason: Refused; readonly hint: string } | null;
}

const USUAL_PREFIX = "X-Webhook";

export function Verify() {
  const t = useTexts(texts);
  const [text, setText] = useState("");
  const [secret, setSecret] = useState("");
  const [prefix, setPrefix] = useState(USUAL_PREFIX);
  const [verdicts, setVerdicts] = useState<readonly Verdict[] | null>(null);
  const [isNone, setNone] = useState(false);
  const check = async (event: FormEvent) => {
    event.preventDefault();
    const pasted = readPastedRequest(text);
    setNone(pasted === null);
    setVerdicts(pasted === null ? null : await judge(pasted, secret.trim(), prefix));
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
          <div className="grid gap-3 sm:grid-cols-2">
            <TextField
              label={t.secret}
              hint={t.secretHint}
              required
              autoComplete="off"
              value={secret}
              onChange={(event) => setSecret(event.target.value)}
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
          {verdicts?.map(({ scheme, refused }) => (
            <div key={scheme}>
              <Badge tone={refused === null ? "ok" : "bad"} icon={refused === null ? "check" : "dead"}>
                {scheme}: {refused === null ? t.genuine : t.notGenuine}
              </Badge>
              {refused !== null && (
                <p className="break-words first-letter:uppercase">
                  {t.refusals[refused.reason](refused.hint)}
                </p>
              )}
            </div>
          ))}
          {verdicts !== null && <p className="text-xs text-muted">{t.late}</p>}
        </div>
      </Panel>
      <Snippets />
    </Page>
  );
}

function Snippets() {
  const t = useTexts(texts);
  const [language, setLanguage] = useState<SnippetLanguage>("TypeScript");
  return (
    <Panel
      title={t.code}
      actions={
        <select
          aria-label={t.language}
          value={language}
          onChange={(event) => setLanguage(event.target.value as SnippetLanguage)}
          className="rounded-md border border-line bg-surface px-2 py-1"
        >
          {Object.keys(SNIPPETS).map((name) => (
            <option key={name}>{name}</option>
          ))}
        </select>
      }
    >
      <p className="pb-2 text-muted">{t.codeLead}</p>
      <CodeView label={language} text={SNIPPETS[language]} />
    </Panel>
  );
}

async function judge(
  { headers, body }: { readonly headers: Readonly<Record<string, string>>; readonly body: string },
  secret: string,
  headerPrefix: string,
): Promise<readonly Verdict[]> {
  const verdicts = DEFAULT_SCHEMES.map(async (scheme) => {
    const input = {
      scheme,
      headers,
      body: new TextEncoder().encode(body),
      secrets: [secret],
      headerPrefix,
      toleranceSeconds: Number.POSITIVE_INFINITY,
    };
    try {
      const result = await verify(input);
      return { scheme, refused: result.ok ? null : await explainRefusal(input, result, "thorough") };
    } catch (error) {
      return { scheme, refused: { reason: "unusable_secret" as const, hint: (error as Error).message } };
    }
  });
  return await Promise.all(verdicts);
}
