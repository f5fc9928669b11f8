// How deliveries are signed: by one scheme or by several at once, and of a new endpoint with which secrets.
import { useState } from "react";
import { defineTexts, useTexts } from "../../../app/texts.ts";
import { headersOf, kindOf, SCHEMES_BY_KIND, type SchemeKind } from "../../../format/signature-schemes.ts";
import { TextField, Tick } from "../../ui/field.tsx";
import { FormGroup } from "./form-group.tsx";
import { type FormParts, fieldsIn } from "./form-parts.ts";

const texts = defineTexts({
  en: {
    title: "Signature",
    several: "Several at once are fine while receivers change over: a delivery carries all of them.",
    kinds: {
      own: "Standard Webhooks, and Posthorn's own",
      message: "HTTP Message Signatures (RFC 9421)",
      vendor: "As others sign, so that their receivers go on working",
    } as Record<SchemeKind, string>,
    prefix: "Names of headers begin with",
    secret: "Secret",
    secretHint:
      "Your own: whsec_…, whsk_…, or for others' schemes any text. Left empty: one is made. It is shown once.",
    ownSecret: (scheme: string) => `Secret of ${scheme}`,
    ownSecretHint: "What its receivers have already; never shown again. Left empty: the secret above.",
    later: "Under Secrets a scheme can be given one of its own.",
    usual: "as the deployment is set",
    usualHint: "Left empty: as the deployment is set.",
  },
  de: {
    title: "Signatur",
    several: "Mehrere zugleich sind in Ordnung, solange Empfänger umstellen: Eine Zustellung trägt sie alle.",
    kinds: {
      own: "Standard Webhooks, und die von Posthorn",
      message: "HTTP Message Signatures (RFC 9421)",
      vendor: "Wie andere signieren, damit deren Empfänger weiter funktionieren",
    },
    prefix: "Namen der Header beginnen mit",
    secret: "Geheimnis",
    secretHint:
      "Ein eigenes: whsec_…, whsk_…, für Verfahren anderer jeder Text. Leer: es wird eines erzeugt. Es wird einmal gezeigt.",
    ownSecret: (scheme: string) => `Geheimnis von ${scheme}`,
    ownSecretHint: "Was dessen Empfänger schon haben; es wird nie wieder gezeigt. Leer: das Geheimnis oben.",
    later: "Unter Geheimnisse bekommt ein Verfahren ein eigenes.",
    usual: "wie die Installation",
    usualHint: "Leer: wie die Installation.",
  },
});

const KINDS = Object.keys(SCHEMES_BY_KIND) as SchemeKind[];

export function SignatureFields(parts: FormParts) {
  const t = useTexts(texts);
  const { form, problems, isNew } = parts;
  const field = fieldsIn(parts);
  const foreign = form.schemes.length < 2 ? [] : form.schemes.filter((scheme) => kindOf(scheme) !== "own");
  return (
    <FormGroup
      title={t.title}
      summary={form.schemes.length === 0 ? t.usual : form.schemes.join(", ")}
      hasProblem={problems.isAnyAt(["/signature", "/secret", "/scheme_secrets"])}
    >
      <div className="flex min-w-0 flex-col gap-2 sm:col-span-2">
        <p className="text-xs text-muted">{t.several}</p>
        {KINDS.map((kind) => (
          <Schemes key={kind} kind={kind} title={t.kinds[kind]} parts={parts} />
        ))}
        {problems.at("/signature/schemes") !== undefined && (
          <p className="text-xs text-bad">{problems.at("/signature/schemes")}</p>
        )}
      </div>
      <TextField label={t.prefix} hint={t.usualHint} {...field("headerPrefix", "/signature/header_prefix")} />
      {isNew ? (
        <TextField label={t.secret} hint={t.secretHint} autoComplete="off" {...field("secret", "/secret")} />
      ) : (
        <p className="self-end text-xs text-muted">{t.later}</p>
      )}
      {isNew && foreign.map((scheme) => <OwnSecret key={scheme} scheme={scheme} parts={parts} />)}
    </FormGroup>
  );
}

/** Those that most need are in sight; the others are folded as long as none of them is chosen. */
function Schemes({
  kind,
  title,
  parts: { form, onChange },
}: {
  readonly kind: SchemeKind;
  readonly title: string;
  readonly parts: FormParts;
}) {
  const [isOpen, setOpen] = useState(kind === "own");
  const isAnyChosen = SCHEMES_BY_KIND[kind].some((scheme) => form.schemes.includes(scheme));
  const choose = (scheme: string, isChosen: boolean) =>
    onChange({
      ...form,
      schemes: isChosen ? [...form.schemes, scheme] : form.schemes.filter((other) => other !== scheme),
    });
  return (
    <details open={isOpen || isAnyChosen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="text-sm font-medium">{title}</summary>
      <div className="grid gap-x-3 gap-y-1.5 py-1.5 pl-4 sm:grid-cols-2">
        {SCHEMES_BY_KIND[kind].map((scheme) => (
          <Tick
            key={scheme}
            label={scheme}
            hint={headersOf(scheme, form.headerPrefix)[0]}
            checked={form.schemes.includes(scheme)}
            onChange={(event) => choose(scheme, event.target.checked)}
          />
        ))}
      </div>
    </details>
  );
}

function OwnSecret({
  scheme,
  parts: { form, onChange, problems },
}: {
  readonly scheme: string;
  readonly parts: FormParts;
}) {
  const t = useTexts(texts);
  return (
    <TextField
      label={t.ownSecret(scheme)}
      hint={t.ownSecretHint}
      type="password"
      autoComplete="new-password"
      value={form.schemeSecrets[scheme] ?? ""}
      problem={problems.at(`/scheme_secrets/${scheme}`)}
      onChange={(event) =>
        onChange({ ...form, schemeSecrets: { ...form.schemeSecrets, [scheme]: event.target.value } })
      }
    />
  );
}
