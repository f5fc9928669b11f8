// The settings of an endpoint as options of `endpoints create` and `endpoints update`.
import type { Endpoint } from "@posthorn/client";
import {
  definitionOf,
  ENDPOINT_PRESET_NAMES,
  endpointSettings,
  SETTING_NAMES,
  type Setting,
  type Shape,
  snakeCase,
  writtenRetryPolicy,
} from "@posthorn/wire";
import { Option } from "commander";
import { usage } from "../failure.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { SECRET_ENCODING_OPTION, schemeOption, schemesOf } from "../views/secrets.ts";
import { readObject } from "./data.ts";
import { type Param, splitList, wholeNumber } from "./remote.ts";

/** The options that settings define have further names. */
export interface SettingFlags {
  readonly [option: string]: unknown;
  readonly to?: string;
  readonly scheme?: string;
  readonly headerPrefix?: string;
  readonly preset?: string;
  /** False: `--no-token`. */
  readonly token?: string | false;
  readonly tokenIn?: string;
  /** False: `--no-handshake`. */
  readonly handshake?: string | false;
  readonly handshakeRate?: string;
  readonly secret?: string;
  readonly secretEncoding?: string;
  readonly schemeSecret?: readonly string[];
  readonly data?: string;
}

/** An option that sets a setting, or a field of one. */
interface SettingOption {
  readonly option: Option;
  readonly shape: Shape;
  /** The name of the setting in the API. */
  readonly setting: string;
  /** The name of the field; null: the option sets the whole setting. */
  readonly field: string | null;
}

const SETTING_OPTIONS: readonly SettingOption[] = SETTING_NAMES.flatMap((name) => {
  const definition = definitionOf(name);
  const setting = snakeCase(name);
  const fields = definition.kind === "object" ? Object.entries(definition.fields) : [];
  return [
    ...optionOf(definition, setting, null),
    ...fields.flatMap(([field, shape]) => optionOf(shape, setting, snakeCase(field))),
  ];
});

function optionOf(
  shape: Shape & Pick<Setting, "flag">,
  setting: string,
  field: string | null,
): SettingOption[] {
  if (shape.flag === undefined) return [];
  const bounds = shape.kind === "integer" ? `, ${shape.min} to ${shape.max}` : "";
  const option = new Option(shape.flag.option, `${shape.flag.about}${bounds}`);
  if (shape.kind === "choice") option.choices(shape.values);
  return [{ option, shape, setting, field }];
}

export const SETTING_PARAMS: readonly Param[] = [
  ...SETTING_OPTIONS.map(({ option }) => option),
  schemeOption("--scheme <schemes>", "comma-separated signature schemes"),
  ["--preset <name>", "settings that belong together", ENDPOINT_PRESET_NAMES],
  ["--token <token>", "a token by which the receiver recognises the sender; it is never shown"],
  [
    "--token-in <place>",
    "where the token is sent (default bearer)",
    endpointSettings.authorization.fields.type.values,
  ],
  ["--handshake <origin>", "ask first whether the endpoint accepts webhooks from this DNS name"],
  ["--data <json>", "any other setting as a JSON object, @file, or -"],
];

/** Options of a new endpoint. Later, a secret is set by a rotation. */
export const SECRET_OPTIONS: readonly Param[] = [
  ["--secret <secret>", "your own signing secret (default: one is generated)"],
  ["--scheme-secret <scheme=secret...>", "the secret of one scheme: github=what-its-receivers-have"],
  SECRET_ENCODING_OPTION,
];

/** Options that only apply to an existing endpoint. */
export const REMOVAL_OPTIONS: readonly Param[] = [
  ["--to <url>", "the new URL"],
  ["--no-token", "remove the token"],
  ["--no-handshake", "remove the handshake"],
];

/** Settings that a request replaces as a whole: options that set one field keep the other fields of the current value. */
export type Settable = Pick<
  Endpoint,
  "batch" | "signature" | "authorization" | "handshake" | "circuit_breaker" | "disable_after"
>;

export async function settingsOf(
  flags: SettingFlags,
  terminal: Terminal,
  current: () => Promise<Settable | null>,
): Promise<Record<string, unknown>> {
  const { to, scheme, headerPrefix, preset, secret, secretEncoding, schemeSecret } = flags;
  const { settings, fields } = readOptions(flags);
  if (scheme !== undefined)
    fields.signature = { schemes: schemesOf(scheme, headerPrefix), ...fields.signature };
  const isPart = Object.keys(fields).length > 0 || flags.handshakeRate || flags.tokenIn;
  const before = isPart ? await current() : null;
  const merged = Object.entries(fields).map(([name, given]) => [
    name,
    { ...before?.[name as keyof Settable], ...given },
  ]);
  return {
    ...(flags.data !== undefined && (await readObject(flags.data, terminal))),
    ...(to !== undefined && { url: to }),
    ...settings,
    ...(preset !== undefined && { preset }),
    ...Object.fromEntries(merged),
    ...authorizationOf(flags, before),
    ...handshakeOf(flags, before),
    ...(secret !== undefined && { secret }),
    ...(secretEncoding !== undefined && { secret_encoding: secretEncoding }),
    ...(schemeSecret !== undefined && { scheme_secrets: Object.fromEntries(schemeSecret.map(ofScheme)) }),
  };
}

/** The settings and fields that the generic options give. The handshake is read by `handshakeOf`. */
function readOptions(flags: SettingFlags) {
  const settings: Record<string, unknown> = {};
  const fields: Record<string, Record<string, unknown>> = {};
  for (const { option, shape, setting, field } of SETTING_OPTIONS) {
    const text = flags[option.attributeName()];
    if (typeof text !== "string" || setting === "handshake") continue;
    const value = optionValue(shape, option.long as string, text);
    if (field === null) settings[setting] = value;
    else fields[setting] = { ...fields[setting], [field]: value };
  }
  return { settings, fields };
}

function optionValue(shape: Shape, option: string, text: string): unknown {
  if (shape.kind === "integer") return wholeNumber(option, text, shape.min, shape.max);
  if (shape.kind === "retry-policy") return writtenRetryPolicy(text);
  return shape.kind === "list" ? splitList(text) : text;
}

function authorizationOf({ token, tokenIn: place }: SettingFlags, before: Settable | null): object {
  if (token === false) return { authorization: null };
  if (token !== undefined)
    return { authorization: { type: place ?? before?.authorization?.type ?? "bearer", token } };
  if (place === undefined) return {};
  if (!before?.authorization) throw usage("--token-in needs a token: use it with --token.");
  return { authorization: { type: place } };
}

function handshakeOf({ handshake, handshakeRate }: SettingFlags, before: Settable | null): object {
  if (handshake === false) return { handshake: null };
  const { min, max } = endpointSettings.handshake.fields.rate;
  const rate = handshakeRate && wholeNumber("--handshake-rate", handshakeRate, min, max);
  const origin = handshake ?? (rate === undefined ? undefined : before?.handshake?.origin);
  if (origin !== undefined) return { handshake: { origin, ...(rate !== undefined && { rate }) } };
  if (rate === undefined) return {};
  throw usage("--handshake-rate needs --handshake, which names the sender that asks for the rate.");
}

function ofScheme(given: string): [scheme: string, secret: string] {
  const at = given.indexOf("=");
  if (at > 0 && at < given.length - 1) return [given.slice(0, at), given.slice(at + 1)];
  throw usage("--scheme-secret must be a scheme and its secret separated by =, such as github=secret.");
}
