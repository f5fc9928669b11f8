// Form fields for the token and the consent handshake.
import { endpointSettings } from "@posthorn/wire";
import { defineTexts, useLanguage, useTexts } from "../../../app/texts.ts";
import { whole } from "../../../format/number.ts";
import { Choice, TextField, Tick } from "../../ui/field.tsx";
import { FormGroup, Options } from "./form-group.tsx";
import { type FormParts, fieldsIn } from "./form-parts.ts";

const texts = defineTexts({
  en: {
    title: "Token and consent",
    type: "Token",
    none: "none",
    types: { bearer: "bearer: in the Authorization header", query: "query: access_token in the URL" },
    token: "Token value",
    isSet: "A token is set and is not shown. Empty keeps it.",
    isNew: "Letters, digits and - . _ ~ + /. Stored encrypted and never shown again.",
    isRemoved: "The current token will be removed.",
    hasToken: (type: string) => `${type} token`,
    noToken: "no token",
    ask: "Require the receiver's consent",
    askHint:
      "Sends an OPTIONS request as defined by CloudEvents (also used by Azure Event Grid). Deliveries start when the receiver consents.",
    asked: "consent required",
    origin: "Origin",
    originHint: "The DNS name that identifies the sender.",
    rate: "Requested rate per minute",
    rateHint: (most: string) => `Optional, up to ${most}.`,
  },
  de: {
    title: "Token und Zustimmung",
    type: "Token",
    none: "keines",
    types: { bearer: "bearer: im Header Authorization", query: "query: access_token in der URL" },
    token: "Token-Wert",
    isSet: "Ein Token ist gesetzt und wird nicht angezeigt. Leer: Es bleibt unverändert.",
    isNew: "Buchstaben, Ziffern und - . _ ~ + /. Wird verschlüsselt gespeichert und nicht mehr angezeigt.",
    isRemoved: "Das aktuelle Token wird entfernt.",
    hasToken: (type: string) => `${type}-Token`,
    noToken: "kein Token",
    ask: "Zustimmung des Empfängers einholen",
    askHint:
      "Sendet eine OPTIONS-Anfrage nach CloudEvents (auch von Azure Event Grid verwendet). Zugestellt wird erst nach der Zustimmung.",
    asked: "Zustimmung erforderlich",
    origin: "Origin",
    originHint: "Der DNS-Name, der den Absender identifiziert.",
    rate: "Gewünschte Rate pro Minute",
    rateHint: (most: string) => `Optional, bis ${most}.`,
  },
});

export function ConsentFields(parts: FormParts) {
  const t = useTexts(texts);
  const language = useLanguage();
  const { form, before, onChange, problems } = parts;
  const field = fieldsIn(parts);
  const hasToken = before.authorization !== "";
  const set = [
    form.authorization === "" ? t.noToken : t.hasToken(form.authorization),
    ...(form.isAskedFirst ? [t.asked] : []),
  ];
  return (
    <FormGroup
      title={t.title}
      summary={set.join(", ")}
      hasProblem={problems.isAnyAt(["/authorization", "/handshake"])}
    >
      <Choice
        label={t.type}
        hint={hasToken && form.authorization === "" ? t.isRemoved : undefined}
        {...field("authorization", "/authorization/type")}
      >
        <Options none={t.none} names={endpointSettings.authorization.fields.type.values} words={t.types} />
      </Choice>
      {form.authorization !== "" && (
        <TextField
          label={t.token}
          hint={hasToken ? t.isSet : t.isNew}
          type="password"
          autoComplete="new-password"
          {...field("token", "/authorization/token")}
        />
      )}
      <div className="sm:col-span-2">
        <Tick
          label={t.ask}
          hint={t.askHint}
          checked={form.isAskedFirst}
          onChange={(event) =>
            onChange({
              ...form,
              isAskedFirst: event.target.checked,
              // usually the host name of this page
              origin: form.origin === "" ? location.hostname : form.origin,
            })
          }
        />
      </div>
      {form.isAskedFirst && (
        <>
          <TextField label={t.origin} hint={t.originHint} {...field("origin", "/handshake/origin")} />
          <TextField
            label={t.rate}
            hint={t.rateHint(whole(endpointSettings.handshake.fields.rate.max, language))}
            inputMode="numeric"
            {...field("originRate", "/handshake/rate")}
          />
        </>
      )}
    </FormGroup>
  );
}
