// Form fields that follow from the definitions of the settings, in collapsible groups.
import {
  definitionOf,
  endpointSettings,
  type FormGroup as Group,
  RETRY_PRESET_NAMES,
  snakeCase,
} from "@posthorn/wire";
import { type ReactNode, useId, useState } from "react";
import { defineTexts, type InLanguage } from "../../../app/texts.ts";
import {
  type EndpointForm,
  NUMBER_FIELDS,
  type NumberField,
  TEXT_SETTINGS,
  type TextSetting,
} from "../../../format/endpoint-form.ts";
import { whole } from "../../../format/number.ts";
import type { Problems } from "../../../format/problems.ts";
import { Choice, fieldsIn, pointerOf, TextArea, TextField } from "../../ui/field.tsx";
import { numberTexts, type SettingTexts, settingTexts } from "./setting-texts.ts";

const t = defineTexts({
  bounds: ["{min} to {max}. Default: {usual}.", "{min} bis {max}. Standard: {usual}."],
});

export interface FormParts {
  readonly form: EndpointForm;
  /** The form when editing began. */
  readonly before: EndpointForm;
  readonly onChange: (form: EndpointForm) => void;
  readonly problems: Problems;
  readonly isNew: boolean;
}

export function settingsIn(group: Group): readonly TextSetting[] {
  return TEXT_SETTINGS.filter((name) => definitionOf(name).group === group);
}

/** The values of a group in a few words; none if all use their defaults. */
export function useSummary(group: Group, { form }: FormParts): readonly string[] {
  return settingsIn(group).flatMap((name) => {
    const {
      label,
      values,
      summary = (value) => values?.[value] ?? `${label}: ${value}`,
    }: InLanguage<SettingTexts> = settingTexts[name];
    return form[name] === "" ? [] : summary(form[name]) || [];
  });
}

/** Opens when one of its settings has a problem. */
export function FormGroup({
  title,
  summary,
  hasProblem,
  children,
}: {
  readonly title: string;
  readonly summary: string;
  readonly hasProblem: boolean;
  readonly children: ReactNode;
}) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details
      open={isOpen || hasProblem}
      onToggle={(event) => setOpen(event.currentTarget.open)}
      className="border-t border-line pt-2"
    >
      <summary className="py-1">
        <span className="font-semibold">{title}</span>{" "}
        <span className="text-sm break-words text-muted">{summary}</span>
      </summary>
      <fieldset className="grid min-w-0 gap-3 pt-2 sm:grid-cols-2">
        <legend className="sr-only">{title}</legend>
        {children}
      </fieldset>
    </details>
  );
}

/** A group whose settings all have a field of their kind. */
export function SettingGroup({
  group,
  title,
  ...parts
}: FormParts & { readonly group: Group; readonly title: string }) {
  const summary = useSummary(group, parts);
  const names = settingsIn(group);
  return (
    <FormGroup
      title={title}
      summary={summary.length === 0 ? t.deploymentDefault : summary.join(", ")}
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
  const { label, values = {}, hint: ownHint }: InLanguage<SettingTexts> = settingTexts[name];
  const presets = useId();
  const setting = definitionOf(name);
  const props = { label, ...fieldsIn(parts)(name) };
  const isRequired = setting.isRequired ?? false;
  const hint = givenHint ?? ownHint ?? (isRequired ? undefined : t.emptyUsesDefault);
  switch (setting.kind) {
    case "choice":
      return (
        <Choice
          {...props}
          hint={givenHint ?? ownHint}
          none={t.deploymentDefault}
          options={setting.values.map((value) => [value, values[value] ?? value])}
        />
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

/** A number of a setting that is an object. */
export function NumberSettingField({ name, ...parts }: FormParts & { readonly name: NumberField }) {
  const [setting, field] = NUMBER_FIELDS[name];
  const { fields, default: preset } = endpointSettings[setting];
  const { min, max } = (fields as Readonly<Record<string, { readonly min: number; readonly max: number }>>)[
    field
  ] as { readonly min: number; readonly max: number };
  const usual = (preset as Readonly<Record<string, number>>)[field] as number;
  return (
    <TextField
      label={numberTexts[name]}
      hint={t.bounds({ min: whole(min), max: whole(max), usual: whole(usual) })}
      inputMode="numeric"
      {...fieldsIn(parts)(name, `${pointerOf(setting)}/${snakeCase(field)}`)}
    />
  );
}
