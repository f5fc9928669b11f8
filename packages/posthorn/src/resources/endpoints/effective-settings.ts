// The effective settings of an endpoint: its own, else those of the deployment, else the defaults.
import {
  type DefaultableSetting,
  definitionOf,
  type EffectiveSettings,
  hostOf,
  SETTING_NAMES,
  type Setting,
  type SettingName,
} from "@posthorn/wire";
import type { FormatContext, RetryPolicy } from "../../model.ts";
import { isRetryPolicy } from "../../settle/retry-schedule.ts";
import type { EndpointSettings } from "../../storage/queries/endpoints/setting-columns.ts";

/** The deployment's settings, used where an endpoint has not set one. */
export type EndpointDefaults = {
  readonly [Name in DefaultableSetting]: EffectiveSettings[Name];
} & {
  /** `source` has `{tenant}` in place of the tenant's id. */
  readonly formatContext: FormatContext;
};

/** The authorization is only known together with its token. */
const NAMES = SETTING_NAMES.filter((name) => name !== "authorization");

export function effectiveSettings(
  own: EndpointSettings,
  defaults: EndpointDefaults,
): Omit<EffectiveSettings, "authorization"> {
  const values: Partial<Record<SettingName, unknown>> = {};
  for (const name of NAMES) {
    const setting = definitionOf(name);
    const followed = setting.followsSetting === undefined ? null : own[setting.followsSetting as SettingName];
    const ofDeployment = (defaults as Partial<Record<SettingName, unknown>>)[name];
    // a retried batch can arrive after a later one; `isOrdered` of the statements is the same
    const isUnordered = name === "ordering" && values.format === "cloudevents-batch";
    const fallback = followed ?? (isUnordered ? setting.default : ofDeployment) ?? setting.default;
    values[name] = effectiveValue(setting, own[name], fallback);
  }
  values.name ??= hostOf(own.url);
  return values as EffectiveSettings;
}

function effectiveValue(setting: Setting, own: unknown, fallback: unknown): unknown {
  if (setting.kind === "object" && setting.isPartial)
    return { ...(fallback as object), ...(own as object | null) };
  // a value that a later version stored
  if (setting.kind === "choice" && !setting.values.includes(own as string)) return fallback;
  if (setting.kind === "retry-policy" && !isRetryPolicy(own as RetryPolicy | null)) return fallback;
  return own ?? fallback;
}
