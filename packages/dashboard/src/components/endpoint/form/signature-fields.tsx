// Form fields for signature schemes, and for the secrets of a new endpoint.
import { useState } from "react";
import { defineTexts, type Text } from "../../../app/texts.ts";
import {
  headersOf,
  isOtherScheme,
  kindOf,
  SCHEMES_BY_KIND,
  type SchemeKind,
} from "../../../format/signature-schemes.ts";
import { fieldsIn, TextField, Tick } from "../../ui/field.tsx";
import { SecretEncodingChoice } from "../secret-encoding.tsx";
import { FormGroup, type FormParts } from "./setting-fields.tsx";

const t = defineTexts({
  several: [
    "With several schemes, every delivery carries all signatures, for example during a migration.",
    "Bei mehreren Verfahren enthält jede Zustellung alle Signaturen, zum Beispiel während einer Umstellung.",
  ],
  kinds: {
    own: ["Standard Webhooks and Posthorn", "Standard Webhooks und Posthorn"],
    message: "HTTP Message Signatures (RFC 9421)",
    vendor: ["Compatible with other services", "Kompatibel mit anderen Diensten"],
  } as Readonly<Record<SchemeKind, Text>>,
  labelled: ["Scheme with its own label", "Verfahren mit eigener Kennung"],
  labelledHint: [
    "Optional: sha256:<label>, sha512:<label> or two-headers:<label>. sha256:sha256_v2 sends sha256_v2=… as the signature.",
    "Optional: sha256:<Kennung>, sha512:<Kennung> oder two-headers:<Kennung>. sha256:sha256_v2 sendet sha256_v2=… als Signatur.",
  ],
  secretHint: [
    "Optional: whsec_…, whsk_…, or an existing secret that receivers have. Empty generates a secret, which is shown once.",
    "Optional: whsec_…, whsk_… oder ein vorhandenes Secret der Empfänger. Leer: Ein Secret wird erzeugt und einmal angezeigt.",
  ],
  ownSecret: ["Secret for {scheme}", "Secret für {scheme}"],
  ownSecretHint: [
    "Optional, never shown again. Empty uses the secret above.",
    "Optional, wird nicht mehr angezeigt. Leer: das obige Secret.",
  ],
  later: [
    "Secrets per scheme can be set on the Secrets tab.",
    "Secrets pro Verfahren werden im Tab Secrets gesetzt.",
  ],
});

const KINDS = Object.keys(SCHEMES_BY_KIND) as SchemeKind[];

export function SignatureFields(parts: FormParts) {
  const { form, onChange, problems, isNew } = parts;
  const field = fieldsIn(parts);
  const foreign = form.schemes.length < 2 ? [] : form.schemes.filter((scheme) => kindOf(scheme) !== "own");
  return (
    <FormGroup
      title={t.signature}
      summary={form.schemes.length === 0 ? t.deploymentDefault : form.schemes.join(", ")}
      hasProblem={problems.isAnyAt(["/signature", "/secret", "/scheme_secrets"])}
    >
      <div className="flex min-w-0 flex-col gap-2 sm:col-span-2">
        <p className="text-xs text-muted">{t.several}</p>
        {KINDS.map((kind) => (
          <Schemes key={kind} kind={kind} {...parts} />
        ))}
        {problems.at("/signature/schemes") !== undefined && (
          <p className="text-xs text-bad">{problems.at("/signature/schemes")}</p>
        )}
      </div>
      <TextField
        label={t.labelled}
        hint={t.labelledHint}
        value={form.schemes.find(isOtherScheme) ?? ""}
        onChange={(event) => {
          const other = event.target.value.trim();
          const known = form.schemes.filter((scheme) => !isOtherScheme(scheme));
          onChange({ ...form, schemes: other === "" ? known : [...known, other] });
        }}
      />
      <TextField
        label={t.headerPrefix}
        hint={t.emptyUsesDefault}
        {...field("headerPrefix", "/signature/header_prefix")}
      />
      {isNew ? (
        <>
          <TextField label={t.secret} hint={t.secretHint} autoComplete="off" {...field("secret")} />
          <SecretEncodingChoice {...field("secretEncoding", "/secret_encoding")} />
        </>
      ) : (
        <p className="self-end text-xs text-muted">{t.later}</p>
      )}
      {isNew &&
        foreign.map((scheme) => (
          <TextField
            key={scheme}
            label={t.ownSecret({ scheme })}
            hint={t.ownSecretHint}
            type="password"
            autoComplete="new-password"
            value={form.schemeSecrets[scheme] ?? ""}
            problem={problems.at(`/scheme_secrets/${scheme}`)}
            onChange={(event) =>
              onChange({ ...form, schemeSecrets: { ...form.schemeSecrets, [scheme]: event.target.value } })
            }
          />
        ))}
    </FormGroup>
  );
}

/** The common schemes are visible; the others are collapsed unless one is selected. */
function Schemes({ kind, form, onChange }: FormParts & { readonly kind: SchemeKind }) {
  const [isOpen, setOpen] = useState(kind === "own");
  const isAnyChosen = SCHEMES_BY_KIND[kind].some((scheme) => form.schemes.includes(scheme));
  const choose = (scheme: string, isChosen: boolean) =>
    onChange({
      ...form,
      schemes: isChosen ? [...form.schemes, scheme] : form.schemes.filter((other) => other !== scheme),
    });
  return (
    <details open={isOpen || isAnyChosen} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="text-sm font-medium">{t.kinds[kind]}</summary>
      <div className="grid gap-x-3 gap-y-1.5 py-1.5 pl-4 sm:grid-cols-2">
        {SCHEMES_BY_KIND[kind].map((scheme) => (
          <Tick
            key={scheme}
            label={scheme}
            hint={headersOf(scheme, form.headerPrefix)[0]}
            checked={form.schemes.includes(scheme)}
            onChange={(isChosen) => choose(scheme, isChosen)}
          />
        ))}
      </div>
    </details>
  );
}
