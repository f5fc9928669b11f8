// What may be set on an endpoint: checked field by field, everything wrong with it told at once.
import { schemeNamed, signingKeyBytes } from "@posthorn/wire";
import type { AddressPolicy } from "../../attempt/guard/guard-address.ts";
import {
  type AuthorizationType,
  type BatchSettings,
  type FifoOnDead,
  type FilterInput,
  type FormatContext,
  type Ordering,
  PAYLOAD_FORMATS,
  type PayloadFormat,
  type RetryOn,
  type RetryPolicy,
  type SignatureSettings,
} from "../../model.ts";
import { isRetryPolicy } from "../../settle/retry-schedule.ts";
import type { EndpointSettings } from "../../storage/queries/endpoints/write.ts";
import { checkAuthorization, readAuthorization } from "./authorization-settings.ts";
import { type EndpointPreset, readPreset, withPreset } from "./endpoint-presets.ts";
import { readHandshake } from "./handshake-settings.ts";
import type { RetryPolicyInput } from "./retry-policy-input.ts";
import {
  oneOf,
  orDefault,
  readBatch,
  readBoolean,
  readDescription,
  readEvents,
  readFilter,
  readHeaders,
  readRetryPolicy,
  readSchemeSecrets,
  readSecret,
  readSignature,
  readUrl,
  wholeNumber,
} from "./setting-readers.ts";
import { SettingsCheck } from "./settings-check.ts";

/** `bearer`: in the Authorization header. `query`: as `access_token` in the URL's query. */
export interface AuthorizationInput {
  readonly type: AuthorizationType;
  /** Left out: the one that the endpoint has already. */
  readonly token?: string | undefined;
}

export interface HandshakeInput {
  /** The DNS name that stands for you, such as `hooks.example.com`. */
  readonly origin: string;
  /** Requests per minute to ask for, 1 to 600 000. */
  readonly rate?: number | null | undefined;
}

export interface EndpointInput {
  readonly url: string;
  /** 1 to 100 of: an exact type, `order.*`, or `*`. */
  readonly events: readonly string[];
  /** Fills in settings that go together: `standard-webhooks`, what that standard advises. Those given beside it stay. */
  readonly preset?: EndpointPreset | null | undefined;
  readonly description?: string | null | undefined;
  readonly isActive?: boolean | undefined;
  /** From here on null or nothing means: as the deployment is set, also when that changes. */
  readonly format?: PayloadFormat | null | undefined;
  readonly signature?: Partial<SignatureSettings> | null | undefined;
  readonly headers?: Readonly<Record<string, string>> | null | undefined;
  readonly timeoutMs?: number | null | undefined;
  readonly maxInFlight?: number | null | undefined;
  /** Attempts per second; null or nothing: no limit. */
  readonly rateLimit?: number | null | undefined;
  readonly retryPolicy?: RetryPolicyInput | null | undefined;
  readonly retryOn?: RetryOn | null | undefined;
  /** `fifo`: one by one in each subject, in the order of the sequences. Null means `none`. */
  readonly ordering?: Ordering | null | undefined;
  /** Of a `fifo` endpoint. Null means `pass`: those after a dead one go on. `hold`: they wait until it is retried. */
  readonly fifoOnDead?: FifoOnDead | null | undefined;
  /** What an event of these types must have to be delivered; null or nothing: every one is. */
  readonly filter?: FilterInput | null | undefined;
  /** Of the format `cloudevents-batch`, in part or whole; null or nothing: 100 events, 512 KiB, one second. */
  readonly batch?: Partial<BatchSettings> | null | undefined;
  /** A token that the receiver knows its sender by. Kept encrypted and shown to nobody; null: none is sent. */
  readonly authorization?: AuthorizationInput | null | undefined;
  /** The endpoint is asked whether it wants webhooks, and gets none until it agreed. Null or nothing: it is not asked. */
  readonly handshake?: HandshakeInput | null | undefined;
  /** Your own `whsec_…` or `whsk_…`, or the text that a vendor's receivers have; one is made when it is left out. */
  readonly secret?: string | undefined;
  /** Secrets of single schemes, such as `{ stripe: "whsec_…" }`; the others sign with `secret`. */
  readonly schemeSecrets?: Readonly<Record<string, string>> | undefined;
}

/** A field that is given replaces the whole value; null takes it back to the deployment's setting. */
export type EndpointPatch = Partial<Omit<EndpointInput, "secret" | "schemeSecrets">>;

/** The deployment's settings, in force where an endpoint has none of its own. */
export interface EndpointDefaults {
  readonly format: PayloadFormat;
  readonly signature: SignatureSettings;
  readonly timeoutMs: number;
  readonly maxInFlight: number;
  readonly rateLimit: number | null;
  readonly retryPolicy: RetryPolicy;
  readonly retryOn: RetryOn;
  /** `source` with `{tenant}` for the tenant's id. */
  readonly formatContext: FormatContext;
}

/** What no deployment sets for its endpoints. */
export interface OwnSettings {
  readonly headers: Readonly<Record<string, string>>;
  readonly ordering: Ordering;
  readonly fifoOnDead: FifoOnDead;
  readonly batch: BatchSettings;
}

/** What is in force for an endpoint. */
export function effectiveSettings(
  stored: Omit<EndpointSettings, "url" | "events" | "filter" | "description" | "isActive">,
  defaults: EndpointDefaults,
): Omit<EndpointDefaults, "formatContext"> & OwnSettings {
  return {
    // one that a later version wrote has no bytes here
    format: PAYLOAD_FORMATS.find((format) => format === stored.format) ?? defaults.format,
    signature: { ...defaults.signature, ...stored.signature },
    headers: stored.headers ?? {},
    timeoutMs: stored.timeoutMs ?? defaults.timeoutMs,
    maxInFlight: stored.maxInFlight ?? defaults.maxInFlight,
    rateLimit: stored.rateLimit ?? defaults.rateLimit,
    retryPolicy: isRetryPolicy(stored.retryPolicy) ? stored.retryPolicy : defaults.retryPolicy,
    retryOn: stored.retryOn ?? defaults.retryOn,
    ordering: stored.ordering ?? "none",
    fifoOnDead: stored.fifoOnDead ?? "pass",
    batch: { ...DEFAULT_BATCH, ...stored.batch },
  };
}

/** Half of what many receivers take, and no longer than a person would notice. */
export const DEFAULT_BATCH: BatchSettings = { maxEvents: 100, maxBytes: 512 * 1024, maxDelayMs: 1_000 };

export interface SettingsContext {
  readonly addressPolicy: AddressPolicy;
  readonly defaults: EndpointDefaults;
  /** What is wrong with a type that is asked for by its name; null when nothing is. */
  readonly typeProblem: (type: string) => string | null;
}

/** What is given by a name, and read before the settings themselves. */
const PRESET = "preset";

export interface ParsedInput {
  readonly settings: EndpointSettings;
  /** Null: one is made. */
  readonly secret: string | null;
  readonly schemeSecrets: Readonly<Record<string, string>>;
  /** Null: none is sent. */
  readonly token: string | null;
}

export function parseEndpointInput(input: unknown, context: SettingsContext): ParsedInput {
  const check = new SettingsCheck(withPreset(input), [...FIELDS, PRESET, "secret", "schemeSecrets"]);
  const settings = readSettings(check, NEW_ENDPOINT, context);
  check.require("url", "The URL that deliveries are sent to is missing.");
  check.require(
    "events",
    'The event types to deliver are missing. Give a list such as ["order.*"], or ["*"] for all.',
  );
  const schemes = schemesOf(settings, context.defaults);
  const secret = check.read("secret", null, readSecret(schemes));
  if (secret !== null && check.isClean && !fitsAny(secret, schemes)) {
    check.refuse(
      "/secret",
      "This kind of secret fits none of the endpoint's signature schemes. Leave it out and one is made that does.",
    );
  }
  const schemeSecrets = check.read("schemeSecrets", {}, readSchemeSecrets);
  for (const scheme of Object.keys(schemeSecrets)) {
    if (check.isClean && !schemes.includes(scheme))
      check.refuse("/schemeSecrets", `The endpoint does not sign by ${scheme}; add it to signature.schemes.`);
  }
  if (secret !== null && check.isClean) {
    const sharing = schemes.filter((name) => schemeSecrets[name] === undefined && !isByKeyPair(name));
    for (const name of sharing.filter((scheme) => !fitsAny(secret, [scheme])))
      check.refuse(
        "/secret",
        `This kind of secret does not fit ${name}; give that a secret of its own by schemeSecrets.`,
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
  const check = new SettingsCheck(withPreset(patch), [...FIELDS, PRESET]);
  const settings = readSettings(check, current, context);
  check.finish("The endpoint cannot be changed");
  return settings;
}

/** The token of settings that were read; null: none is given. */
export function tokenIn({ authorization }: EndpointPatch): string | null {
  return authorization?.token ?? null;
}

export function schemesOf(
  settings: Pick<EndpointSettings, "signature">,
  defaults: EndpointDefaults,
): readonly string[] {
  return settings.signature?.schemes ?? defaults.signature.schemes;
}

/** Can at least one of these schemes sign with this secret? */
export function fitsAny(secret: string, schemes: readonly string[]): boolean {
  return schemes.some((name) => signingKeyBytes(schemeNamed(name).key, secret) !== null);
}

export function isByKeyPair(scheme: string): boolean {
  return schemeNamed(scheme).key === "ed25519";
}

const NEW_ENDPOINT: EndpointSettings = {
  url: "",
  events: [],
  description: null,
  isActive: true,
  format: null,
  signature: null,
  headers: null,
  timeoutMs: null,
  maxInFlight: null,
  rateLimit: null,
  retryPolicy: null,
  retryOn: null,
  ordering: null,
  fifoOnDead: null,
  filter: null,
  batch: null,
  authorization: null,
  handshake: null,
};
const FIELDS = Object.keys(NEW_ENDPOINT);
function readSettings(
  check: SettingsCheck,
  current: EndpointSettings,
  context: SettingsContext,
): EndpointSettings {
  check.read(PRESET, null, orDefault(readPreset));
  const signature = check.read("signature", current.signature, orDefault(readSignature));
  const format = check.read("format", current.format, orDefault(oneOf(PAYLOAD_FORMATS)));
  const ordering = check.read("ordering", current.ordering, orDefault(oneOf(["none", "fifo"])));
  if (ordering === "fifo" && (format ?? context.defaults.format) === "cloudevents-batch") {
    check.refuse(
      "/ordering",
      "Batches may overtake one another when one is retried: fifo goes with every other format.",
    );
  }
  const inForce = { ...context.defaults.signature, ...signature };
  const url = check.read("url", current.url, (value, refuse) =>
    readUrl(value, refuse, context.addressPolicy),
  );
  const authorization = check.read(
    "authorization",
    current.authorization,
    orDefault((value, refuse) => readAuthorization(value, refuse, current.authorization)),
  );
  if (authorization !== null) checkAuthorization(check, authorization, current.url, url);
  return {
    url,
    authorization,
    handshake: check.read("handshake", current.handshake, orDefault(readHandshake)),
    events: check.read("events", current.events, (value, refuse) =>
      // what it has already may have been deleted from the catalogue since
      readEvents(value, refuse, (type) => (current.events.includes(type) ? null : context.typeProblem(type))),
    ),
    description: check.read("description", current.description, orDefault(readDescription)),
    isActive: check.read("isActive", current.isActive, readBoolean),
    format,
    signature,
    headers: check.read(
      "headers",
      current.headers,
      orDefault((value, refuse) => readHeaders(value, refuse, inForce, authorization)),
    ),
    timeoutMs: check.read("timeoutMs", current.timeoutMs, orDefault(wholeNumber(100, 60_000))),
    maxInFlight: check.read("maxInFlight", current.maxInFlight, orDefault(wholeNumber(1, 100))),
    rateLimit: check.read("rateLimit", current.rateLimit, orDefault(wholeNumber(1, 10_000))),
    retryPolicy: check.read("retryPolicy", current.retryPolicy, orDefault(readRetryPolicy)),
    retryOn: check.read("retryOn", current.retryOn, orDefault(oneOf(["transient", "every"]))),
    ordering,
    fifoOnDead: check.read("fifoOnDead", current.fifoOnDead, orDefault(oneOf(["pass", "hold"]))),
    filter: check.read("filter", current.filter, orDefault(readFilter)),
    batch: check.read("batch", current.batch, orDefault(readBatch)),
  };
}
