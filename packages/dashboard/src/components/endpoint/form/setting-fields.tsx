// Form fields that follow from the definitions of the settings.
import { definitionOf, type FormGroup as Group, RETRY_PRESET_NAMES, snakeCase } from "@posthorn/wire";
import { type ReactNode, useId } from "react";
import { defineTexts, useTexts } from "../../../app/texts.ts";
import { TEXT_SETTINGS, type TextSetting } from "../../../format/endpoint-form.ts";
import { Choice, TextArea, TextField } from "../../ui/field.tsx";
import { FormGroup, Options } from "./form-group.tsx";
import { type FormParts, fieldsIn } from "./form-parts.ts";
import { type SettingTexts, settingTexts } from "./setting-texts.ts";

export const defaultTexts = defineTexts({
  en: { usual: "deployment default", usualHint: "Empty uses the deployment default." },
  de: { usual: "Standard der Installation", usualHint: "Leer: Standard der Installation." },
});

export function settingsIn(group: Group): readonly TextSetting[] {
  return TEXT_SETTINGS.filter((name) => definitionOf(name).group === group);
}

/** The values of a group in a few words; none if all use their defaults. */
export function useSummary(group: Group, { form }: FormParts): readonly string[] {
  const texts = useTexts(settingTexts);
  return settingsIn(group).flatMap((name) => {
    const {
      label,
      values,
      summary = (value) => values?.[value] ?? `${label}: ${value}`,
    }: SettingTexts = texts[name];
    return form[name] === "" ? [] : summary(form[name]) || [];
  });
}

/** A group whose settings all have a field of their kind. */
export function SettingGroup({
  group,
  title,
  ...parts
}: FormParts & { readonly group: Group; readonly title: string }) {
  const { usual } = useTexts(defaultTexts);
  const summary = useSummary(group, parts);
  const names = settingsIn(group);
  return (
    <FormGroup
      title={title}
      summary={summary.length === 0 ? usual : summary.join(", ")}
      hasProblem={parts.problems.isAnyAt(names.map(pointerOf))}
    >
      {names.map((name) => (
        <SettingField key={name} name={name} {...parts} />
      ))}
    </FormGroup>
  );
}

const URL_FIELD = { type: "url", className: "font-mono" };

export function SettingField({
  name,
  hint: givenHint,
  ...parts
}: FormParts & { readonly name: TextSetting; readonly hint?: ReactNode }) {
  const { label, values = {}, hint: ownHint }: SettingTexts = useTexts(settingTexts)[name];
  const { usual, usualHint } = useTexts(defaultTexts);
  const presets = useId();
  const setting = definitionOf(name);
  const props = { label, ...fieldsIn(parts)(name, pointerOf(name)) };
  const isRequired = setting.isRequired ?? false;
  const hint = givenHint ?? ownHint ?? (isRequired ? undefined : usualHint);
  switch (setting.kind) {
    case "choice":
      return (
        <Choice {...props} hint={givenHint ?? ownHint}>
          <Options none={usual} names={setting.values} words={values} />
        </Choice>
      );
    case "list":
      return <TextArea {...props} hint={hint} rows={3} required={isRequired} />;
    case "map":
      return (
        <div className="sm:col-span-2">
          <TextArea {...props} hint={hint} rows={2} />
        </div>
      );
    case "retry-policy":
      return (
        <>
          <TextField {...props} hint={hint} list={presets} className="font-mono" />
          <datalist id={presets}>
            {RETRY_PRESET_NAMES.map((preset) => (
              <option key={preset} value={preset} />
            ))}
          </datalist>
        </>
      );
    case "integer":
      return <TextField {...props} hint={hint} inputMode="numeric" />;
    default:
      return <TextField {...props} hint={hint} required={isRequired} {...(name === "url" && URL_FIELD)} />;
  }
}

export function pointerOf(name: TextSetting): string {
  return `/${snakeCase(name)}`;
}
