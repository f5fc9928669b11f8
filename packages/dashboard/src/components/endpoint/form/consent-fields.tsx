// How sender and receiver come to know each other beside the signature: a token, and the question whether webhooks are
// wanted at all.
import { defineTexts, useLanguage, useTexts } from "../../../app/texts.ts";
import { AUTHORIZATIONS, MOST_A_MINUTE } from "../../../format/endpoint-form.ts";
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
    token: "The token",
    isSet: "One is set, and nobody is shown it. Left empty: it stays.",
    isNew: "Letters, digits and - . _ ~ + /. Kept encrypted, and shown to nobody.",
    isRemoved: "The token that is set will be removed.",
    hasToken: (type: string) => `${type} token`,
    noToken: "no token",
    ask: "Ask it first whether it wants webhooks",
    askHint:
      "By OPTIONS, as CloudEvents receivers and Azure Event Grid know it. Nothing is sent until it agrees.",
    asked: "is asked first",
    origin: "Origin",
    originHint: "The DNS name that stands for the sender.",
    rate: "Requests a minute to ask for",
    rateHint: (most: string) => `Up to ${most}. Left empty: none in particular.`,
  },
  de: {
    title: "Token und Zustimmung",
    type: "Token",
    none: "keines",
    types: { bearer: "bearer: im Header Authorization", query: "query: access_token in der URL" },
    token: "Das Token",
    isSet: "Eines ist gesetzt, und niemand bekommt es zu sehen. Leer: es bleibt.",
    isNew: "Buchstaben, Ziffern und - . _ ~ + /. Verschlüsselt verwahrt, niemandem gezeigt.",
    isRemoved: "Das gesetzte Token wird entfernt.",
    hasToken: (type: string) => `${type}-Token`,
    noToken: "kein Token",
    ask: "Erst fragen, ob er Webhooks will",
    askHint:
      "Mit OPTIONS, wie es CloudEvents-Empfänger und Azure Event Grid kennen. Gesendet wird erst, wenn er zustimmt.",
    asked: "wird erst gefragt",
    origin: "Herkunft",
    originHint: "Der DNS-Name, der für den Absender steht.",
    rate: "Erbetene Anfragen je Minute",
    rateHint: (most: string) => `Bis ${most}. Leer: keine bestimmte Zahl.`,
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
        <Options none={t.none} names={AUTHORIZATIONS} words={t.types} />
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
              // most installations are known by the name that this page has
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
            hint={t.rateHint(whole(MOST_A_MINUTE, language))}
            inputMode="numeric"
            {...field("originRate", "/handshake/rate")}
          />
        </>
      )}
    </FormGroup>
  );
}
