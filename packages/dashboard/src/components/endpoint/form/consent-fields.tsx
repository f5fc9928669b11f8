// Form fields for the token and the consent handshake.
import { endpointSettings } from "@posthorn/wire";
import { defineTexts } from "../../../app/texts.ts";
import { whole } from "../../../format/number.ts";
import { Choice, fieldsIn, TextField, Tick } from "../../ui/field.tsx";
import { FormGroup, type FormParts } from "./setting-fields.tsx";

const t = defineTexts({
  title: ["Token and consent", "Token und Zustimmung"],
  type: "Token",
  none: ["none", "keines"],
  types: {
    bearer: ["bearer: in the Authorization header", "bearer: im Authorization-Header"],
    query: ["query: access_token in the URL", "query: access_token in der URL"],
  },
  token: ["Token value", "Token-Wert"],
  isSet: [
    "A token is set and is not shown. Empty keeps it.",
    "Ein Token ist gesetzt und wird nicht angezeigt. Leer: Es bleibt unverändert.",
  ],
  isNew: [
    "Letters, digits and - . _ ~ + /. Stored encrypted and never shown again.",
    "Buchstaben, Ziffern und - . _ ~ + /. Wird verschlüsselt gespeichert und nicht mehr angezeigt.",
  ],
  isRemoved: ["The current token will be removed.", "Das aktuelle Token wird entfernt."],
  hasToken: ["{type} token", "{type}-Token"],
  noToken: ["no token", "kein Token"],
  ask: ["Require the receiver's consent", "Zustimmung des Empfängers einholen"],
  askHint: [
    "Sends an OPTIONS request as defined by CloudEvents (also used by Azure Event Grid). Deliveries start when the receiver consents.",
    "Sendet eine OPTIONS-Anfrage nach CloudEvents (auch von Azure Event Grid verwendet). Zugestellt wird erst nach der Zustimmung.",
  ],
  asked: ["consent required", "Zustimmung erforderlich"],
  origin: "Origin",
  originHint: ["The DNS name that identifies the sender.", "Der DNS-Name, der den Absender identifiziert."],
  rate: ["Requested rate per minute", "Gewünschte Rate pro Minute"],
  rateHint: ["Optional, up to {most}.", "Optional, bis {most}."],
});

export function ConsentFields(parts: FormParts) {
  const { form, before, onChange, problems } = parts;
  const field = fieldsIn(parts);
  const hasToken = before.authorization !== "";
  const set = [
    form.authorization === "" ? t.noToken : t.hasToken({ type: form.authorization }),
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
        none={t.none}
        options={Object.entries(t.types)}
        {...field("authorization", "/authorization/type")}
      />
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
          onChange={(isAskedFirst) =>
            onChange({
              ...form,
              isAskedFirst,
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
            hint={t.rateHint({ most: whole(endpointSettings.handshake.fields.rate.max) })}
            inputMode="numeric"
            {...field("originRate", "/handshake/rate")}
          />
        </>
      )}
    </FormGroup>
  );
}
