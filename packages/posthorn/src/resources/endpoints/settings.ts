// Checks the settings given for an endpoint one by one, and reports all problems at once.
import {
  ENDPOINT_PRESET_NAMES,
  ENDPOINT_PRESETS,
  type EndpointPreset,
  isObject,
  SETTING_NAMES,
  type SecretEncoding,
  type SettingName,
  schemeNamed,
  signingKeyBytes,
} from "@posthorn/wire";
import type { AddressPolicy } from "../../attempt/guard/guard-address.ts";
import type { HostFindings } from "../../attempt/guard/look-up-hosts.ts";
import type { RetryPolicyInput } from "../../settle/retry-policy-input.ts";
import { type EndpointSettings, UNSET_SETTINGS } from "../../storage/queries/endpoints/setting-columns.ts";
import { oneOf } from "../read-fields.ts";
import { type AuthorizationInput, checkAuthorization } from "./authorization-settings.ts";
import type { EndpointDefaults } from "./effective-settings.ts";
import { NO_ORDERED_BATCHES } from "./endpoint-defaults.ts";
import type { HandshakeInput } from "./handshake-settings.ts";
import { type GivenSecret, readEncoding, readSchemeSecrets, readSecret } from "./secret-input.ts";
import { orNull, readerOf } from "./setting-readers.ts";
import { SettingsCheck } from "./settings-check.ts";

/** Settings whose input differs from what is stored. */
interface OwnInputs {
  readonly authorization: AuthorizationInput | null;
  readonly handshake: HandshakeInput | null;
  readonly retryPolicy: RetryPolicyInput | null;
}

type SettingInputs = {
  readonly [Name in SettingName]?:
    | (Name extends keyof OwnInputs ? OwnInputs[Name] : EndpointSettings[Name])
    | undefined;
};

/**
 * Settings to change, described in docs/reference/http-api.md. A given value replaces the current one; null restores the
 * default.
 */
export interface EndpointPatch extends SettingInputs {
  /** Fills in settings that belong together. Settings given beside it take precedence. */
  readonly preset?: EndpointPreset | null | undefined;
}

export interface EndpointInput extends EndpointPatch {
  readonly url: string;
  readonly events: readonly string[];
  /** Your own `whsec_…` or `whsk_…`, or the secret of another sender with its encoding. Without it, one is generated. */
  readonly secret?: string | undefined;
  /**
   * How `secret` and `schemeSecrets` are written: `text`, `base64` or `hex`, if they are not a `whsec_…` or `whsk_…`.
   * Every scheme signs with exactly these bytes. Vendors' schemes need none for visible ASCII text.
   */
  readonly secretEncoding?: SecretEncoding | undefined;
  /** Secrets of individual schemes, such as `{ stripe: "whsec_…" }`. The other schemes sign with `secret`. */
  readonly schemeSecrets?: Readonly<Record<string, string>> | undefined;
}

export interface SettingsContext {
  readonly addressPolicy: AddressPolicy;
  /** Of the hosts of the given URLs. */
  readonly hosts: HostFindings;
  readonly defaults: EndpointDefaults;
  /** Returns why a type cannot be subscribed to by name, or null. */
  readonly typeProblem: (type: string) => string | null;
}

/** The endpoint was saved, but deliveries to it will fail for now. */
export interface EndpointWarning {
  readonly code: "host_not_resolved";
  readonly pointer: string;
  readonly message: string;
}

export function warningsOf({ url }: EndpointSettings, hosts: HostFindings): readonly EndpointWarning[] {
  const message = hosts.warningOf(url);
  return message === null ? [] : [{ code: "host_not_resolved", pointer: "/url", message }];
}

export interface ParsedInput {
  readonly settings: EndpointSettings;
  /** Null: one is generated. */
  readonly secret: GivenSecret | null;
  /** As they are stored. */
  readonly schemeSecrets: Readonly<Record<string, string>>;
  /** Null: none is sent. */
  readonly token: string | null;
}

export function parseEndpointInput(input: unknown, context: SettingsContext): ParsedInput {
  const check = new SettingsCheck(withPreset(input), [...SETTING_NAMES, PRESET, ...SECRET_FIELDS]);
  const settings = readSettings(check, UNSET_SETTINGS, context);
  check.require("url", "The URL that deliveries are sent to is missing.");
  check.require(
    "events",
    'The event types to deliver are missing. Give a list such as ["order.*"], or ["*"] for all.',
  );
  const schemes = schemesOf(settings, context.defaults);
  const encoding = check.read("secretEncoding", null, readEncoding);
  const secret = check.read("secret", null, readSecret(schemes, encoding));
  if (secret !== null && check.isClean && !fitsAny(secret.value, schemes)) {
    check.refuse(
      "/secret",
      "This kind of secret fits none of the endpoint's signature schemes. Leave it out to have one generated.",
    );
  }
  const schemeSecrets = check.read("schemeSecrets", {}, readSchemeSecrets(encoding));
  if (encoding !== null && secret === null && Object.keys(schemeSecrets).length === 0 && check.isClean)
    check.refuse(
      "/secretEncoding",
      "There is no secret that has this encoding. Give secret or schemeSecrets.",
    );
  for (const scheme of Object.keys(schemeSecrets)) {
    if (check.isClean && !schemes.includes(scheme))
      check.refuse(
        "/schemeSecrets",
        `The endpoint does not sign with "${scheme}"; add it to signature.schemes.`,
      );
  }
  if (secret !== null && check.isClean) {
    const sharing = schemes.filter((name) => schemeSecrets[name] === undefined && !isByKeyPair(name));
    for (const name of sharing.filter((scheme) => !fitsAny(secret.value, [scheme])))
      check.refuse(
        "/secret",
        `This kind of secret does not fit "${name}"; give it its own secret in schemeSecrets.`,
      );
  }
  check.finish("The endpoint cannot be created");
  return { settings, secret, schemeSecrets, token: tokenIn(input as EndpointInput) };
}

export function parseEndpointPatch(
  patch: unknown,
  current: EndpointSettings,
  context: SettingsContext,
): EndpointSettings {
  const check = new SettingsCheck(withPreset(patch), [...SETTING_NAMES, PRESET]);
  const settings = readSettings(check, current, context);
  check.finish("The endpoint cannot be changed");
  return settings;
}

/** Returns the token in settings that were checked, or null. */
export function tokenIn({ authorization }: EndpointPatch): string | null {
  return authorization?.token ?? null;
}

export function schemesOf(
  settings: Pick<EndpointSettings, "signature">,
  defaults: EndpointDefaults,
): readonly string[] {
  return settings.signature?.schemes ?? defaults.signature.schemes;
}

/** Returns whether at least one of the schemes can sign with the secret. */
export function fitsAny(secret: string, schemes: readonly string[]): boolean {
  return schemes.some((name) => signingKeyBytes(schemeNamed(name).key, secret) !== null);
}

export function isByKeyPair(scheme: string): boolean {
  return schemeNamed(scheme).key === "ed25519";
}

const PRESET = "preset";
const SECRET_FIELDS = ["secret", "secretEncoding", "schemeSecrets"];

/** Settings of the named preset, overridden by those given. */
function withPreset(input: unknown): unknown {
  if (!isObject(input)) return input;
  const name = ENDPOINT_PRESET_NAMES.find((known) => known === input.preset);
  if (name === undefined) return input;
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  return { ...ENDPOINT_PRESETS[name], ...Object.fromEntries(given) };
}

function readSettings(
  check: SettingsCheck,
  current: EndpointSettings,
  context: SettingsContext,
): EndpointSettings {
  check.read(PRESET, null, orNull(oneOf(ENDPOINT_PRESET_NAMES)));
  const read: Partial<Record<SettingName, unknown>> = {};
  for (const name of SETTING_NAMES) {
    read[name] = check.read<unknown>(name, current[name], readerOf(name, { ...context, current, read }));
  }
  const settings = read as EndpointSettings;
  const format = settings.format ?? context.defaults.format;
  if (settings.ordering === "fifo" && format === "cloudevents-batch") {
    check.refuse("/ordering", NO_ORDERED_BATCHES);
  }
  checkAuthorization(check, settings, current.url);
  return settings;
}
