// The options of a deployment that are defaults of endpoint settings. The library's options and the server's settings are
// derived from here.
import type {
  EndpointSettingDefinitions,
  Field,
  Setting,
  SettingName,
  SettingValue,
  ValueOf,
} from "./setting.ts";
import { definitionOf, SETTING_NAMES } from "./settings.ts";

export interface DeploymentOption {
  readonly name: DeploymentOptionName;
  readonly setting: SettingName;
  /** The field of a setting that is an object; null: the option is the whole setting. */
  readonly field: string | null;
  readonly shape: Setting | Field;
  readonly default: unknown;
}

export const DEPLOYMENT_OPTIONS: readonly DeploymentOption[] = SETTING_NAMES.flatMap((setting) => {
  const definition = definitionOf(setting);
  const fields = definition.kind === "object" ? Object.entries(definition.fields) : [];
  const defaults = definition.default as Readonly<Record<string, unknown>> | null | undefined;
  return [
    ...optionOf(definition, { setting, field: null, default: defaults }),
    ...fields.flatMap(([field, shape]) => optionOf(shape, { setting, field, default: defaults?.[field] })),
  ];
});

function optionOf(
  shape: Setting | Field,
  rest: Pick<DeploymentOption, "setting" | "field" | "default">,
): DeploymentOption[] {
  const name = shape.deploymentOption as DeploymentOptionName | undefined;
  return name === undefined ? [] : [{ name, shape, ...rest }];
}

/** Returns whether a deployment can replace the default of a setting, or of its fields. */
export function hasDeploymentDefault(setting: Setting): boolean {
  if (setting.deploymentOption !== undefined) return true;
  return setting.kind === "object" && Object.values(setting.fields).some((field) => field.deploymentOption);
}

type OptionOf<Definition, Value> = Definition extends {
  readonly deploymentOption: infer Option extends string;
}
  ? readonly [Option, Value]
  : Definition extends { readonly kind: "object"; readonly fields: infer Fields }
    ? {
        [Name in keyof Fields]: Fields[Name] extends {
          readonly deploymentOption: infer Option extends string;
        }
          ? readonly [Option, ValueOf<Fields[Name]>]
          : never;
      }[keyof Fields]
    : never;

type Options = {
  [Name in SettingName]: OptionOf<EndpointSettingDefinitions[Name], SettingValue<Name>>;
}[SettingName];

export type DeploymentOptionName = Options[0];

export type DeploymentOptionValues = {
  readonly [Option in Options as Option[0]]?: Option[1] | undefined;
};

/** The settings of which a deployment can replace the default. */
export type DefaultableSetting = {
  [Name in SettingName]: [OptionOf<EndpointSettingDefinitions[Name], unknown>] extends [never] ? never : Name;
}[SettingName];
