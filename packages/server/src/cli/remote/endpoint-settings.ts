// The settings of an endpoint as options of `endpoints create` and `endpoints update`.
import type { Endpoint } from "@posthorn/client";
import { type Command, Option } from "commander";
import { PAYLOAD_FORMATS } from "posthorn/internal";
import { usage } from "../failure.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { schemeOption, schemesOf } from "../views/secrets.ts";
import { readObject } from "./data.ts";
import { splitList, wholeNumber } from "./remote.ts";

export interface SettingFlags {
  readonly events?: string;
  readonly description?: string;
  readonly to?: string;
  readonly format?: string;
  readonly batchEvents?: string;
  readonly batchBytes?: string;
  readonly batchDelayMs?: string;
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
  readonly schemeSecret?: readonly string[];
  readonly data?: string;
}

export function settingOptions(command: Command): Command {
  return command
    .option("--events <types>", "comma between: order.paid,invoice.* (default of a new one: all)")
    .option("--description <text>", "what it is")
    .addOption(new Option("--format <format>", "what is sent").choices(PAYLOAD_FORMATS))
    .option("--batch-events <number>", "of cloudevents-batch: events in a batch, 1 to 1000")
    .option("--batch-bytes <number>", "bytes of its body, 1024 to 4194304")
    .option("--batch-delay-ms <number>", "how long its first event waits, 10 to 3600000")
    .addOption(schemeOption("--scheme <schemes>", "how it is signed, comma between, of these"))
    .option("--header-prefix <prefix>", "of the headers")
    .addOption(new Option("--preset <name>", "settings that go together").choices(["standard-webhooks"]))
    .option("--token <token>", "a token that the receiver knows its sender by; nobody is shown it")
    .addOption(
      new Option("--token-in <place>", "where it goes (default bearer)").choices(["bearer", "query"]),
    )
    .option("--handshake <origin>", "ask it first whether it wants webhooks, in the name of this DNS name")
    .option("--handshake-rate <number>", "requests per minute to ask for, 1 to 600000")
    .option("--data <json>", "any other setting as a JSON object, @file, or -");
}

/** Of a new one: later a secret is given by a rotation. */
export function secretOptions(command: Command): Command {
  return command
    .option("--secret <secret>", "one of your own to sign with (default: one is made)")
    .option("--scheme-secret <scheme=secret...>", "of a single scheme: github=what-its-receivers-have");
}

/** What of a change takes something away. */
export function removalOptions(command: Command): Command {
  return command
    .option("--to <url>", "where it is from now on")
    .option("--no-token", "send no token any more")
    .option("--no-handshake", "do not ask it any more");
}

/** What of it is replaced as a whole, so that a part of it has to be put beside what is there. */
export type Settable = Pick<Endpoint, "batch" | "signature" | "authorization" | "handshake">;

export async function settingsOf(
  flags: SettingFlags,
  terminal: Terminal,
  current: () => Promise<Settable | null>,
): Promise<Record<string, unknown>> {
  const batch = batchOf(flags);
  const signature = signatureOf(flags);
  const isPart = batch !== null || signature !== null || flags.handshakeRate || flags.tokenIn;
  const before = isPart ? await current() : null;
  const { to, events, description, format, preset, secret, schemeSecret } = flags;
  return {
    ...(flags.data !== undefined && (await readObject(flags.data, terminal))),
    ...(to !== undefined && { url: to }),
    ...(events !== undefined && { events: splitList(events) }),
    ...(description !== undefined && { description }),
    ...(format !== undefined && { format }),
    ...(preset !== undefined && { preset }),
    ...(batch !== null && { batch: { ...before?.batch, ...batch } }),
    ...(signature !== null && { signature: { ...before?.signature, ...signature } }),
    ...authorizationOf(flags, before),
    ...handshakeOf(flags, before),
    ...(secret !== undefined && { secret }),
    ...(schemeSecret !== undefined && { scheme_secrets: Object.fromEntries(schemeSecret.map(ofScheme)) }),
  };
}

function batchOf({ batchEvents, batchBytes, batchDelayMs }: SettingFlags): object | null {
  const bounds = [
    ["max_events", batchEvents, "--batch-events", 1, 1_000],
    ["max_bytes", batchBytes, "--batch-bytes", 1_024, 4_194_304],
    ["max_delay_ms", batchDelayMs, "--batch-delay-ms", 10, 3_600_000],
  ] as const;
  const given = bounds.flatMap(([name, text, option, min, max]) =>
    text === undefined ? [] : [[name, wholeNumber(option, text, min, max)]],
  );
  return given.length === 0 ? null : Object.fromEntries(given);
}

function signatureOf({ scheme, headerPrefix }: SettingFlags): object | null {
  if (scheme === undefined && headerPrefix === undefined) return null;
  return {
    ...(scheme !== undefined && { schemes: schemesOf(scheme, headerPrefix) }),
    ...(headerPrefix !== undefined && { header_prefix: headerPrefix }),
  };
}

function authorizationOf({ token, tokenIn: place }: SettingFlags, before: Settable | null): object {
  if (token === false) return { authorization: null };
  if (token !== undefined)
    return { authorization: { type: place ?? before?.authorization?.type ?? "bearer", token } };
  if (place === undefined) return {};
  if (!before?.authorization) throw usage("--token-in says where a token goes: give it with --token.");
  return { authorization: { type: place } };
}

function handshakeOf({ handshake, handshakeRate }: SettingFlags, before: Settable | null): object {
  if (handshake === false) return { handshake: null };
  const rate = handshakeRate && wholeNumber("--handshake-rate", handshakeRate, 1, 600_000);
  const origin = handshake ?? (rate === undefined ? undefined : before?.handshake?.origin);
  if (origin !== undefined) return { handshake: { origin, ...(rate !== undefined && { rate }) } };
  if (rate === undefined) return {};
  throw usage("--handshake-rate is asked for in a name: give it with --handshake.");
}

function ofScheme(given: string): [scheme: string, secret: string] {
  const at = given.indexOf("=");
  if (at > 0 && at < given.length - 1) return [given.slice(0, at), given.slice(at + 1)];
  throw usage("--scheme-secret is a scheme and its secret with a = between, such as github=secret.");
}
