// The vocabulary in which endpoint settings are defined: plain data, from which schemas, parsers, columns, flags, form
// fields and documentation are derived.
import type { endpointSettings } from "./settings.ts";

export type Shape =
  | { readonly kind: "text"; readonly maxLength?: number }
  | { readonly kind: "boolean" }
  | { readonly kind: "integer"; readonly min: number; readonly max: number }
  | { readonly kind: "choice"; readonly values: readonly string[] }
  /** A list of strings. */
  | { readonly kind: "list"; readonly minItems: number; readonly maxItems: number }
  /** An object whose names and string values are the caller's. */
  | { readonly kind: "map" }
  | {
      readonly kind: "object";
      readonly fields: Readonly<Record<string, Field>>;
      /** A value may have some of the fields; the others use their default. */
      readonly isPartial?: true;
    }
  | { readonly kind: "retry-policy"; readonly presets: readonly string[] }
  | { readonly kind: "filter" };

interface Documented {
  /** The option of the deployment that replaces the default: `timeoutMs` of the library, POSTHORN_TIMEOUT_MS. */
  readonly deploymentOption?: string;
  /** Complete sentences about the value. */
  readonly description: string;
  /** Complete sentences that only concern those who set it. */
  readonly inputNote?: string;
  readonly example?: unknown;
  /** The option of `posthorn endpoints create` and `update`; other settings are given with `--data`. */
  readonly flag?: { readonly option: string; readonly about: string };
}

/** A field of a setting that is an object. */
export type Field = Shape &
  Documented & {
    readonly isOptional?: true;
    readonly isNullable?: true;
    /** Stored encrypted, and never returned. */
    readonly isSecret?: true;
  };

export type Setting = Shape &
  Documented & {
    /** Every new endpoint needs it. Without `isRequired`, null or nothing uses the default. */
    readonly isRequired?: true;
    /** Null: no value. */
    readonly default?: unknown;
    /** The default in words; otherwise the value itself. */
    readonly defaultText?: string;
    /** Why only an endpoint has it. Otherwise the setting, or each of its fields, has a `deploymentOption`. */
    readonly onlyPerEndpoint?: string;
    /** The name of a setting whose value this one has, if that one is set and this one is not. */
    readonly followsSetting?: string;
    /** Null is rejected. */
    readonly isNeverNull?: true;
    /** The meaning of null, if it is not the default. */
    readonly nullText?: string;
    /** The part of the value that is redacted for keys without `SETTINGS_SCOPE`. */
    readonly redacted?: "query" | "values";
    /** Otherwise a column with the setting's name and the type of its kind. Null: it has no column. */
    readonly column?: { readonly name: string; readonly type: ColumnType } | null;
    /** The group of the dashboard's form that shows it; without one it is not in the form. */
    readonly group?: FormGroup;
    /** Links of the reference page. */
    readonly see?: string;
  };

/** The scope that a key needs to change settings, and to see them without redaction. */
export const SETTINGS_SCOPE = "webhooks:manage";

export type FormGroup =
  | "address"
  | "sending"
  | "signature"
  | "consent"
  | "pace"
  | "retries"
  | "health"
  | "order";

export type ColumnType = "text" | "text[]" | "boolean" | "integer" | "jsonb";

/** Milliseconds between attempts, or exponential growth with full jitter. */
export type RetryPolicy =
  | { readonly kind: "gaps"; readonly gapsMs: readonly number[]; readonly maxAgeMs?: number }
  | {
      readonly kind: "exponential";
      readonly baseMs: number;
      readonly capMs: number;
      readonly maxAttempts: number;
      readonly maxAgeMs?: number;
    };

/** A filter as it was written: objects that mirror the event, with operators that begin with `$`. */
export type FilterInput = Readonly<Record<string, unknown>>;

export type EndpointSettingDefinitions = typeof endpointSettings;
export type SettingName = keyof EndpointSettingDefinitions;

interface ValuesByKind {
  readonly integer: number;
  readonly boolean: boolean;
  readonly text: string;
  readonly list: readonly string[];
  readonly map: Readonly<Record<string, string>>;
  readonly "retry-policy": RetryPolicy;
  readonly filter: FilterInput;
}

/** The TypeScript type of a value of this shape. */
export type ValueOf<Given> = Given extends { readonly kind: infer Kind extends keyof ValuesByKind }
  ? ValuesByKind[Kind]
  : Given extends { readonly kind: "choice"; readonly values: readonly (infer Value)[] }
    ? Value
    : Given extends { readonly kind: "object"; readonly fields: infer Fields }
      ? {
          readonly [Name in keyof Fields as Fields[Name] extends { readonly isSecret: true }
            ? never
            : Name]: FieldValue<Fields[Name]>;
        }
      : never;

type FieldValue<Given> = ValueOf<Given> | (Given extends { readonly isNullable: true } ? null : never);

export type SettingValue<Name extends SettingName> = ValueOf<EndpointSettingDefinitions[Name]>;

/** The settings that apply to an endpoint, with the defaults in place of what it does not set. */
export type EffectiveSettings = {
  readonly [Name in SettingName]:
    | SettingValue<Name>
    | (EndpointSettingDefinitions[Name] extends { readonly default: null } ? null : never);
};
