// The form with all settings of an endpoint; optional groups are collapsed.
import { definitionOf, SETTING_NAMES, snakeCase } from "@posthorn/wire";
import type { FormEvent } from "react";
import { defineTexts, useTexts } from "../../../app/texts.ts";
import { ProblemList } from "../../ui/problem-list.tsx";
import { ConsentFields } from "./consent-fields.tsx";
import type { FormParts } from "./form-parts.ts";
import { SendingFields } from "./sending-fields.tsx";
import { SettingField, SettingGroup, settingsIn } from "./setting-fields.tsx";
import { SignatureFields } from "./signature-fields.tsx";

const texts = defineTexts({
  en: { pace: "Limits", retries: "Retries", order: "Ordering" },
  de: { pace: "Limits", retries: "Erneute Versuche", order: "Reihenfolge" },
});

/** JSON Pointers that a field shows. */
export const SHOWN_AT = [
  ...SETTING_NAMES.filter((name) => definitionOf(name).group !== undefined).map(
    (name) => `/${snakeCase(name)}`,
  ),
  "/preset",
  "/secret",
  "/scheme_secrets",
];

export function SettingsForm({
  id,
  onSubmit,
  ...parts
}: FormParts & {
  /** Lets a button outside the form submit it. */
  readonly id: string;
  readonly onSubmit: () => void;
}) {
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form id={id} onSubmit={submit} className="flex flex-col gap-3" noValidate>
      <ProblemList problems={parts.problems.elsewhere(SHOWN_AT)} />
      {settingsIn("address").map((name) => (
        <SettingField key={name} name={name} {...parts} />
      ))}
      <FoldedSettings {...parts} />
      <button type="submit" hidden />
    </form>
  );
}

/** The optional settings. */
export function FoldedSettings(parts: FormParts) {
  const t = useTexts(texts);
  return (
    <div className="flex flex-col gap-2">
      <SendingFields {...parts} />
      <SignatureFields {...parts} />
      <ConsentFields {...parts} />
      <SettingGroup group="pace" title={t.pace} {...parts} />
      <SettingGroup group="retries" title={t.retries} {...parts} />
      <SettingGroup group="order" title={t.order} {...parts} />
    </div>
  );
}
