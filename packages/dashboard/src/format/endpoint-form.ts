// Converts endpoint settings to form fields and back. Only changed settings are sent; an empty field resets a setting to
// the deployment default.
import type { Endpoint } from "@posthorn/client";
import {
  definitionOf,
  durationText,
  type EndpointSettingDefinitions,
  hostOf,
  SETTING_NAMES,
  type Setting,
  type SettingName,
  snakeCase,
  writtenRetryPolicy,
} from "@posthorn/wire";

/** Settings that are shown as one text field, list or choice. */
export type TextSetting = {
  [Name in SettingName]: EndpointSettingDefinitions[Name] extends { readonly group: string }
    ? EndpointSettingDefinitions[Name] extends { readonly kind: "object" }
      ? never
      : Name
    : never;
}[SettingName];

export const TEXT_SETTINGS = SETTING_NAMES.filter((name) => {
  const { group, kind } = definitionOf(name);
  return group !== undefined && kind !== "object";
}) as TextSetting[];

/** Form fields of settings that are objects of numbers: the setting and its field. */
export const NUMBER_FIELDS = {
  batchEvents: ["batch", "maxEvents"],
  batchBytes: ["batch", "maxBytes"],
  batchDelayMs: ["batch", "maxDelayMs"],
  circuitFailures: ["circuitBreaker", "failures"],
  circuitFailurePercent: ["circuitBreaker", "failurePercent"],
  circuitFailuresPerHour: ["circuitBreaker", "failuresPerHour"],
  circuitPauseMs: ["circuitBreaker", "pauseMs"],
  disableAfterFailures: ["disableAfter", "failures"],
  disableAfterDays: ["disableAfter", "days"],
} as const satisfies Readonly<Record<string, readonly [setting: SettingName, field: string]>>;

export type NumberField = keyof typeof NUMBER_FIELDS;
export type NumbersSetting = (typeof NUMBER_FIELDS)[NumberField][0];

export function numberFieldsOf(setting: NumbersSetting): readonly NumberField[] {
  const names = Object.keys(NUMBER_FIELDS) as NumberField[];
  return names.filter((name) => NUMBER_FIELDS[name][0] === setting);
}

export const EMPTY_FORM = {
  ...textSettings(() => ""),
  ...numberFields(() => ""),
  schemes: [] as readonly string[],
  headerPrefix: "",
  /** Empty for no token. */
  authorization: "",
  /** The stored token is never returned; empty keeps it. */
  token: "",
  isAskedFirst: false,
  origin: "",
  originRate: "",
  /** This and the following fields exist only for new endpoints. */
  preset: "",
  secret: "",
  /** Empty for Posthorn's own format, or text for vendors' schemes. */
  secretEncoding: "",
  schemeSecrets: {} as Readonly<Record<string, string>>,
};

const NUMBERS_SETTINGS: readonly NumbersSetting[] = ["batch", "circuitBreaker", "disableAfter"];

/** Lists have one item per line, headers are `Name: value`. */
export type EndpointForm = Readonly<typeof EMPTY_FORM>;

export function formOf(endpoint: Endpoint): EndpointForm {
  return {
    ...EMPTY_FORM,
    ...textSettings((name) => textOf(definitionOf(name), endpoint[snakeCase(name)])),
    ...numberFields((setting, field) => {
      const numbers: Readonly<Record<string, number>> = endpoint[snakeCase(setting)];
      return String(numbers[snakeCase(field)]);
    }),
    // a name that follows from the URL is not the endpoint's own
    name: endpoint.name === hostOf(endpoint.url) ? "" : endpoint.name,
    schemes: endpoint.signature.schemes,
    headerPrefix: endpoint.signature.header_prefix,
    authorization: endpoint.authorization?.type ?? "",
    isAskedFirst: endpoint.handshake !== null,
    origin: endpoint.handshake?.origin ?? "",
    originRate: numberText(endpoint.handshake?.rate),
  };
}

function textSettings(text: (name: TextSetting) => string): Record<TextSetting, string> {
  return Object.fromEntries(TEXT_SETTINGS.map((name) => [name, text(name)])) as Record<TextSetting, string>;
}

function numberFields(text: (setting: NumbersSetting, field: string) => string): Record<NumberField, string> {
  const entries = Object.entries(NUMBER_FIELDS).map(([name, [setting, field]]) => [
    name,
    text(setting, field),
  ]);
  return Object.fromEntries(entries) as Record<NumberField, string>;
}

function textOf({ kind }: Setting, value: unknown): string {
  if (value === null || value === undefined) return "";
  if (kind === "list") return (value as readonly string[]).join("\n");
  if (kind === "retry-policy") return retryPolicyText(value as Endpoint["retry_policy"]);
  if (kind !== "map") return String(value);
  return Object.entries(value)
    .map(([name, text]) => `${name}: ${text}`)
    .join("\n");
}

function valueIn({ kind, isRequired }: Setting, text: string): unknown {
  if (kind === "integer") return numberOrNull(text);
  if (kind === "list") return linesOf(text);
  if (kind === "map") return headersOf(text);
  if (kind === "retry-policy") return text.trim() === "" ? null : writtenRetryPolicy(text);
  return isRequired ? text.trim() : textOrNull(text);
}

/** Settings by API name, not validated. */
export type Settings = Readonly<Record<string, unknown>>;

/** Returns the settings that differ from `before`. */
export function changesIn(form: EndpointForm, before: EndpointForm): Settings {
  const settings: Record<string, unknown> = {};
  const put = (name: string, fields: readonly (keyof EndpointForm)[], value: () => unknown) => {
    if (fields.some((field) => JSON.stringify(form[field]) !== JSON.stringify(before[field])))
      settings[name] = value();
  };
  for (const name of TEXT_SETTINGS) {
    put(snakeCase(name), [name], () => valueIn(definitionOf(name), form[name]));
  }
  for (const name of NUMBERS_SETTINGS) {
    put(snakeCase(name), numberFieldsOf(name), () => numbersOf(name, form));
  }
  put("signature", ["schemes", "headerPrefix"], () => signatureOf(form));
  put("authorization", ["authorization", "token"], () => authorizationOf(form));
  put("handshake", ["isAskedFirst", "origin", "originRate"], () => handshakeOf(form));
  put("preset", ["preset"], () => textOrNull(form.preset));
  put("secret", ["secret"], () => form.secret.trim());
  const own = ownSecretsOf(form);
  if (Object.keys(own).length > 0) settings.scheme_secrets = own;
  if (form.secretEncoding !== "" && (settings.secret || settings.scheme_secrets))
    settings.secret_encoding = form.secretEncoding;
  return settings;
}

function textOrNull(text: string): string | null {
  return text.trim() === "" ? null : text.trim();
}

function numberText(number: number | null | undefined): string {
  return number === null || number === undefined ? "" : String(number);
}

/** Text that is not a number is passed on, so that the server reports it at the field. */
function numberOrNull(text: string): number | string | null {
  if (text.trim() === "") return null;
  return Number.isNaN(Number(text)) ? text : Number(text);
}

/** By default, lines and commas separate items. */
export function linesOf(text: string, separator: string | RegExp = /[\n,]/): string[] {
  return text
    .split(separator)
    .map((line) => line.trim())
    .filter((line) => line !== "");
}

function signatureOf({ schemes, headerPrefix }: EndpointForm): Settings | null {
  const prefix = headerPrefix.trim();
  if (schemes.length === 0 && prefix === "") return null;
  return { ...(schemes.length > 0 && { schemes }), ...(prefix !== "" && { header_prefix: prefix }) };
}

/** Omitted numbers use the default: the API replaces the setting as a whole. */
function numbersOf(setting: NumbersSetting, form: EndpointForm): Settings | null {
  const numbers = numberFieldsOf(setting).flatMap((name) => {
    const number = numberOrNull(form[name]);
    return number === null ? [] : [[snakeCase(NUMBER_FIELDS[name][1]), number]];
  });
  return numbers.length === 0 ? null : Object.fromEntries(numbers);
}

function authorizationOf({ authorization: type, token }: EndpointForm): Settings | null {
  if (type === "") return null;
  return { type, ...(token.trim() !== "" && { token: token.trim() }) };
}

function handshakeOf({ isAskedFirst, origin, originRate }: EndpointForm): Settings | null {
  return isAskedFirst ? { origin: origin.trim(), rate: numberOrNull(originRate) } : null;
}

function ownSecretsOf({ schemes, schemeSecrets }: EndpointForm): Readonly<Record<string, string>> {
  const given = schemes.map((scheme) => [scheme, schemeSecrets[scheme]?.trim() ?? ""] as const);
  return Object.fromEntries(given.filter(([, secret]) => secret !== ""));
}

function headersOf(text: string): Settings | null {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  if (lines.length === 0) return null;
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return colon === -1 ? [line.trim(), ""] : [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );
}

/** Formats a policy as gaps, as on the command line, or as JSON if gaps cannot express it. */
export function retryPolicyText(policy: Endpoint["retry_policy"]): string {
  const { kind, gaps_ms = [], base_ms = 0, cap_ms = 0, max_attempts, max_age_ms } = policy;
  const limit = max_age_ms === undefined ? {} : { max_age: durationText(max_age_ms) };
  if (kind === "exponential") {
    const exponential = { base: durationText(base_ms), cap: durationText(cap_ms), max_attempts };
    return JSON.stringify({ exponential, ...limit });
  }
  const gaps = gaps_ms.map(durationText);
  if (gaps.length === 0 || max_age_ms !== undefined) return JSON.stringify({ gaps, ...limit });
  return gaps.join(", ");
}
