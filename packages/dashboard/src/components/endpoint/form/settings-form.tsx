// The form with all settings of an endpoint; optional groups are collapsed.
import { definitionOf, SETTING_NAMES } from "@posthorn/wire";
import { defineTexts } from "../../../app/texts.ts";
import { ProblemList, pointerOf, submitted } from "../../ui/field.tsx";
import { ConsentFields } from "./consent-fields.tsx";
import { HealthFields } from "./health-fields.tsx";
import { SendingFields } from "./sending-fields.tsx";
import { type FormParts, SettingField, SettingGroup, settingsIn } from "./setting-fields.tsx";
import { SignatureFields } from "./signature-fields.tsx";

const t = defineTexts({
  pace: "Limits",
  retries: ["Retries", "Erneute Versuche"],
  order: ["Ordering", "Reihenfolge"],
});

/** JSON Pointers that a field shows. */
export const SHOWN_AT = [
  ...SETTING_NAMES.filter((name) => definitionOf(name).group !== undefined).map(pointerOf),
  "/preset",
  "/secret",
  "/secret_encoding",
  "/scheme_secrets",
];

export function SettingsForm({
  id,
  onSubmit,
  ...parts
}: FormParts & {
  /** Lets a button outside the form submit it. */
  readonly id: string;
  readonly onSubmit: () => Promise<unknown>;
}) {
  return (
    <form id={id} onSubmit={submitted(onSubmit)} className="flex flex-col gap-3" noValidate>
      <ProblemList problems={parts.problems.elsewhere(SHOWN_AT)} />
      {settingsIn("address").map((name) => (
        <SettingField key={name} name={name} {...parts} />
      ))}
      <FoldedSettings {...parts} />
      <button type="submit" hidden />
    </form>
  );
}

export function FoldedSettings(parts: FormParts) {
  return (
    <div className="flex flex-col gap-2">
      <SendingFields {...parts} />
      <SignatureFields {...parts} />
      <ConsentFields {...parts} />
      <SettingGroup group="pace" title={t.pace} {...parts} />
      <SettingGroup group="retries" title={t.retries} {...parts} />
      <HealthFields {...parts} />
      <SettingGroup group="order" title={t.order} {...parts} />
    </div>
  );
}
