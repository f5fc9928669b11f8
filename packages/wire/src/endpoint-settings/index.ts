// The settings of an endpoint as data.
export {
  ENDPOINT_PRESET_NAMES,
  ENDPOINT_PRESETS,
  type EndpointPreset,
  RETRY_PRESET_NAMES,
  RETRY_PRESETS,
  type RetryPresetName,
} from "./presets.ts";
export {
  type ColumnType,
  type EffectiveSettings,
  type EndpointSettingDefinitions,
  type Field,
  type FilterInput,
  type FormGroup,
  type RetryPolicy,
  SETTINGS_SCOPE,
  type Setting,
  type SettingName,
  type SettingValue,
  type Shape,
  type ValueOf,
} from "./setting.ts";
export { columnOf, definitionOf, endpointSettings, SETTING_NAMES } from "./settings.ts";
