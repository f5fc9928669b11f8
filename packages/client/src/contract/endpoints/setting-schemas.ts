// Schemas of the endpoint settings in responses and requests, derived from their definitions.
import {
  definitionOf,
  type EffectiveSettings,
  type EndpointSettingDefinitions,
  type Field,
  hasDeploymentDefault,
  SETTING_NAMES,
  SETTINGS_SCOPE,
  type Setting,
  type SettingName,
  type Shape,
  type SnakeCase,
  type SnakeCased,
  snakeCase,
} from "@posthorn/wire";
import { z } from "zod";
import * as s from "../parts.ts";
import { retryPolicy, retryPolicyInput } from "./retry-policy.ts";

/** Checked by the library, because zod would drop a field named `__proto__`. */
export const filter = z.unknown().meta({
  id: "Filter",
  type: "object",
  description: `${definitionOf("filter").description} See the reference of filters.`,
  examples: [definitionOf("filter").example],
});

/** The state of a handshake, which is returned with its settings and ignored in requests. */
const handshakeStatus = z.object({
  state: s.choice(
    ["requesting", "waiting", "granted", "denied"],
    "`requesting`: the request is being sent or repeated. `waiting`: the endpoint has not decided and can still agree through the callback URL. `granted`: it agreed. `denied`: it did not. Nothing is sent unless it is `granted`.",
  ),
  allowed_rate: s.nullableInt("Requests per minute that it allows. Null means no limit."),
  detail: s.nullableText("Why it is not granted. Null if it is."),
  requested_at: s.nullableTime("When the request was last sent. Null if it was not sent yet."),
  decided_at: s.nullableTime("When it agreed or declined. Null until then."),
});

type ShownValue<Name extends SettingName> = Name extends "filter"
  ? unknown
  : Name extends "retryPolicy"
    ? z.output<typeof retryPolicy>
    : Name extends "handshake"
      ? (SnakeCased<NonNullable<EffectiveSettings[Name]>> & z.output<typeof handshakeStatus>) | null
      : SnakeCased<EffectiveSettings[Name]>;

type InputValue<Name extends SettingName> = Name extends "filter"
  ? unknown
  : Name extends "retryPolicy"
    ? z.output<typeof retryPolicyInput> | null
    : Name extends "authorization"
      ? (NonNullable<ShownValue<Name>> & { readonly token?: string | undefined }) | null
      : Name extends "handshake"
        ?
            | ({ readonly origin: string; readonly rate?: number | null | undefined } & Partial<
                z.output<typeof handshakeStatus>
              >)
            | null
        : EndpointSettingDefinitions[Name] extends { readonly isPartial: true }
          ? { readonly [Part in keyof ShownValue<Name>]?: ShownValue<Name>[Part] | undefined } | null
          : Name extends "url" | "events" | "isActive"
            ? ShownValue<Name>
            : ShownValue<Name> | null;

/** The settings in responses. */
export const shownSettings = schemas(shownSchema) as {
  readonly [Name in SettingName as SnakeCase<Name>]: z.ZodType<ShownValue<Name>>;
};

/** The settings in requests. */
export const settableSettings = schemas(inputSchema) as {
  readonly [Name in SettingName as SnakeCase<Name>]: z.ZodType<InputValue<Name>>;
};

function schemas(make: (setting: Setting, name: SettingName) => z.ZodType): Record<string, z.ZodType> {
  return Object.fromEntries(SETTING_NAMES.map((name) => [snakeCase(name), make(definitionOf(name), name)]));
}

function shownSchema(setting: Setting, name: SettingName): z.ZodType {
  const { default: preset } = setting;
  const bare = valueSchema(setting, {
    isInput: false,
    status: name === "handshake" ? handshakeStatus.shape : {},
  });
  const schema = preset === null ? bare.nullable() : bare;
  return schema.describe(shownDescription(setting));
}

function inputSchema(setting: Setting, name: SettingName): z.ZodType {
  const status = name === "handshake" ? handshakeStatus.partial().shape : {};
  const bare = valueSchema(setting, { isInput: true, status });
  const isNullable = setting.isRequired === undefined && setting.isNeverNull === undefined;
  return (isNullable ? bare.nullable() : bare).meta({
    description: inputDescription(setting),
    ...limits(setting),
    ...(setting.example !== undefined && setting.kind !== "filter" && { examples: [setting.example] }),
  });
}

interface Usage {
  readonly isInput: boolean;
  readonly status: z.ZodRawShape;
}

function valueSchema(shape: Shape, { isInput, status }: Usage): z.ZodType {
  switch (shape.kind) {
    case "text":
      return z.string();
    case "boolean":
      return z.boolean();
    case "integer":
      return z.int();
    case "choice":
      return z.enum(shape.values);
    case "list":
      return z.array(z.string());
    case "map":
      return z.record(z.string(), z.string());
    case "filter":
      return filter;
    case "retry-policy":
      return isInput ? retryPolicyInput : retryPolicy;
    case "object": {
      const fields = Object.entries(shape.fields).filter(([, field]) => isInput || !field.isSecret);
      const shapes = fields.map(([name, field]) => [snakeCase(name), fieldSchema(field, isInput)]);
      const made = { ...Object.fromEntries(shapes), ...status };
      if (!isInput) return z.object(made);
      return shape.isPartial ? z.strictObject(made).partial() : z.strictObject(made);
    }
  }
}

function fieldSchema(field: Field, isInput: boolean): z.ZodType {
  const bare = valueSchema(field, { isInput, status: {} });
  const nullable = field.isNullable ? bare.nullable() : bare;
  const { description, example } = field;
  const documented = nullable.meta({
    description,
    ...(field.kind !== "list" && limits(field)),
    ...(example !== undefined && { examples: [example] }),
  });
  return isInput && field.isOptional ? documented.optional() : documented;
}

/** Limits for the OpenAPI document. The library enforces them. */
function limits(shape: Shape): object {
  if (shape.kind === "integer") return { minimum: shape.min, maximum: shape.max };
  if (shape.kind === "list") return { minItems: shape.minItems, maxItems: shape.maxItems };
  return shape.kind === "text" && shape.maxLength !== undefined ? { maxLength: shape.maxLength } : {};
}

export function shownDescription(setting: Setting): string {
  const { description, default: preset, nullText, redacted } = setting;
  return [
    description,
    ...(preset === null && nullText ? [nullText] : []),
    ...(redacted === undefined
      ? []
      : [`The ${redacted === "query" ? "query is" : "values are"} redacted without ${SETTINGS_SCOPE}.`]),
  ].join(" ");
}

export function inputDescription(setting: Setting): string {
  const { description, inputNote } = setting;
  return [description, inputNote, nullDescription(setting)].filter(Boolean).join(" ");
}

export function nullDescription(setting: Setting): string | undefined {
  const { nullText, isRequired, isNeverNull } = setting;
  if (isRequired || isNeverNull) return nullText;
  const isReplaceable = hasDeploymentDefault(setting);
  if (nullText !== undefined && (!isReplaceable || setting.followsSetting !== undefined)) return nullText;
  const preset = setting.defaultText ?? defaultText(setting);
  return isReplaceable
    ? `Null uses the deployment default (${preset} unless configured).`
    : `Null uses the default: ${preset}.`;
}

function defaultText({ default: preset }: Setting): string {
  return typeof preset === "string" ? `\`${preset}\`` : String(preset);
}
