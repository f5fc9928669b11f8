// The columns in which an endpoint's settings are stored, made from the definitions of the settings.
import {
  type ColumnType,
  columnOf,
  type EndpointSettingDefinitions,
  SETTING_NAMES,
  type SettingName,
  type SettingValue,
} from "@posthorn/wire";
import type { AuthorizationType } from "../../../model.ts";
import { textArray } from "../../binary-array.ts";

/** An endpoint's own settings. Null uses the default. */
export type EndpointSettings = { readonly [Name in SettingName]: StoredValue<Name> };

/** The token of an authorization is stored with the secrets. */
type StoredValue<Name extends SettingName> = Name extends "authorization"
  ? AuthorizationType | null
  : EndpointSettingDefinitions[Name] extends { readonly isRequired: true } | { readonly isNeverNull: true }
    ? SettingValue<Name>
    : EndpointSettingDefinitions[Name] extends { readonly isPartial: true }
      ? Partial<SettingValue<Name>> | null
      : SettingValue<Name> | null;

/** The settings of an endpoint that sets none. */
export const UNSET_SETTINGS = {
  ...Object.fromEntries(SETTING_NAMES.map((name) => [name, null])),
  url: "",
  events: [] as readonly string[],
  isActive: true,
} as EndpointSettings;

interface SettingColumn {
  readonly setting: SettingName;
  readonly name: string;
  readonly type: ColumnType;
}

const columns: readonly SettingColumn[] = SETTING_NAMES.flatMap((setting) => {
  const column = columnOf(setting);
  return column === null ? [] : [{ setting, ...column }];
});

/** Select list for `posthorn.endpoints ep`. */
export const settingColumns = columns
  .map(
    ({ setting, name, type }) =>
      `${type === "text[]" ? `to_json(ep.${name})` : `ep.${name}`} as "${setting}"`,
  )
  .join(", ");

export const settingColumnNames = columns.map(({ name }) => name).join(", ");

/** Parameters with their types, the first of them numbered `first`. */
export function settingParameters(first: number): string {
  return columns.map(({ type }, index) => `$${first + index}::${type}`).join(", ");
}

export function settingParameter(setting: SettingName, first: number): string {
  return `$${first + columns.findIndex((column) => column.setting === setting)}`;
}

/** `url = $2::text, …`, the first of the parameters numbered `first`. */
export function settingAssignments(first: number): string {
  return columns.map(({ name, type }, index) => `${name} = $${first + index}::${type}`).join(",\n  ");
}

/** Values of the parameters, in the order of the columns. */
export function settingValues(settings: EndpointSettings): unknown[] {
  return columns.map(({ setting, type }) => {
    const value = settings[setting];
    if (type === "text[]") return textArray(value as readonly string[]);
    return type === "jsonb" && value !== null ? JSON.stringify(value) : value;
  });
}
