// `posthorn listen`: forwards events of a server to a program on this machine. See docs/decisions/0013-listen-polls-and-pages-stream.md.
import { setTimeout as sleep } from "node:timers/promises";
import { contract, PosthornApiError } from "@posthorn/client";
import { DEFAULT_SCHEMES } from "@posthorn/wire";
import { type Command, Option } from "commander";
import { matches, PAYLOAD_FORMATS } from "posthorn/internal";
import { VERSION } from "../../version.ts";
import { usage } from "../failure.ts";
import { parseTime, type Remote, remote, splitList, wholeNumber } from "../remote/remote.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { clean, jsonText, timeText, toned } from "../terminal/text.ts";
import { prefixOf, requireSigningSecrets, schemeOption, schemesOf, secretsOf } from "../views/secrets.ts";
import { Follower } from "./follower.ts";
import { forward, type LocalResponse } from "./forward.ts";
import { poll, reportSkipped } from "./poll.ts";
import { type ForwardOptions, listenerSecret, readEvent, requestFor } from "./request.ts";
import { eventSource, resendSource } from "./sources.ts";

/** All formats except batches, which the server collects. */
const FORMATS = PAYLOAD_FORMATS.filter((format) => format !== "cloudevents-batch");

interface ListenFlags {
  readonly forwardTo?: string;
  readonly tenant?: string;
  readonly events?: string;
  readonly since?: string;
  readonly secret?: string;
  readonly printSecret?: boolean;
  readonly scheme?: string;
  readonly headerPrefix?: string;
  readonly format: ForwardOptions["format"];
  readonly every: string;
}

export function addListen(program: Command, terminal: Terminal): void {
  const command = program
    .command("listen")
    .description("forward events to a program on this machine, also across restarts of the server")
    .option("--forward-to <url>", "URL of the program, such as http://localhost:3000/hooks")
    .option("--tenant <tenant>", "only events of this tenant")
    .option("--events <types>", "comma-separated types such as order.paid,invoice.* (default all)")
    .option("--since <time>", "begin with events since this time: 10m, 2h, or a timestamp")
    .option("--secret <secret>", "signing secret (default: derived from the key)")
    .option("--print-secret", "print the signing secret and exit")
    .addOption(
      schemeOption(
        "--scheme <schemes>",
        `comma-separated signature schemes (default ${DEFAULT_SCHEMES.join(",")})`,
      ),
    )
    .option("--header-prefix <prefix>", "prefix of the headers (default X-Webhook)")
    .addOption(new Option("--format <format>", "format of the body").choices(FORMATS).default("envelope"))
    .option("--every <ms>", "poll interval in milliseconds", "1000");
  remote<ListenFlags>(command, terminal, listen);
}

/** An event to forward; for a resend with the delivery and the attempt number. */
interface Job {
  readonly eventId: string;
  readonly type: string;
  readonly at: string;
  readonly resent: { readonly deliveryId: string; readonly attempt: number } | null;
}

async function listen(remote: Remote, _args: readonly string[], flags: ListenFlags): Promise<void> {
  const { terminal } = remote;
  const secret = flags.secret ?? listenerSecret(remote.key);
  if (flags.printSecret) return terminal.print(remote.isJson ? jsonText({ secret }) : secret);
  const options = signingOptions(flags, secret, remote.url);
  const { url } = options;
  const patterns = flags.events === undefined ? ["*"] : splitList(flags.events);
  const everyMs = wholeNumber("--every", flags.every, 50, 60_000);
  const filter = { tenant: flags.tenant, type: undefined };
  await remote.client.events.list({ query: { tenant: flags.tenant, limit: 1 } });
  const now = remote.now();
  const isBackFill = flags.since !== undefined;
  const start = {
    from: flags.since === undefined ? now : parseTime("--since", flags.since, now),
    isBackFill,
  };
  const events = new Follower(eventSource(remote, filter), start);
  const resends = new Follower(resendSource(remote, filter), start);
  const waiting: Job[] = [];

  const pollOnce = async (): Promise<void> => {
    const jobs = [
      ...(await events.poll()).map(ofEvent),
      ...(await resends.poll()).map(
        ({ event_id, event_type, resent_at, delivery_id, attempt }): Job => ({
          eventId: event_id,
          type: event_type,
          at: resent_at,
          resent: { deliveryId: delivery_id, attempt },
        }),
      ),
    ];
    waiting.push(
      ...jobs.filter(({ type }) => matches(patterns, type)).toSorted((a, b) => a.at.localeCompare(b.at)),
    );
    // Sequential; an event is removed only after it was forwarded, so that errors are retried.
    for (let job = waiting[0]; job && !terminal.ending.aborted; job = waiting[0]) {
      await forwardOne(remote, options, job);
      waiting.shift();
    }
    reportSkipped(terminal, [events, resends]);
  };
  const signer = flags.secret === undefined ? "the secret shown by --print-secret" : "the given secret";
  const announce = (): void =>
    terminal.printError(`Forwarding ${patterns.join(", ")} to ${url}, signed with ${signer}. Ctrl+C stops.`);
  // A back-fill starts with the first poll; otherwise forwarding starts after it.
  if (isBackFill) announce();
  await poll(terminal, everyMs, pollOnce, isBackFill ? () => {} : announce);
}

function ofEvent({ id, type, created_at }: { id: string; type: string; created_at: string }): Job {
  return { eventId: id, type, at: created_at, resent: null };
}

async function forwardOne(remote: Remote, options: ForwardOptions, job: Job): Promise<void> {
  const { terminal, isJson } = remote;
  const found = await find(remote, job.eventId);
  if (found === null) return terminal.printError(`${clean(job.eventId)} was deleted by retention.`);
  const event = readEvent(found);
  const { deliveryId = null, attempt = 1 } = job.resent ?? {};
  const request = requestFor(event, options, { deliveryId, attempt, now: new Date() });
  const response = await forwardUntilAccepted(terminal, options.url, () => forward(request, terminal.ending));
  if (terminal.ending.aborted) return;
  if (isJson) terminal.print(jsonText(jsonLine(event, job, response), 0));
  else terminal.print(textLine(terminal, event.type, job, response));
}

/** Returns null if retention has deleted the event, which can happen with a resend. */
async function find(remote: Remote, id: string): Promise<string | null> {
  try {
    return await remote.send(contract.events.get, `/api/v1/events/${encodeURIComponent(id)}`);
  } catch (error) {
    if (error instanceof PosthornApiError && error.status === 404) return null;
    throw error;
  }
}

const RETRY_MS = 500;

/** Retries while nothing listens at the URL, such as during a restart of the program. */
async function forwardUntilAccepted(
  terminal: Terminal,
  url: string,
  send: () => Promise<LocalResponse>,
): Promise<LocalResponse> {
  for (let tries = 0; ; tries++) {
    const answer = await send();
    if (answer.kind !== "refused" || terminal.ending.aborted) return answer;
    if (tries === 0) terminal.printError(`Nothing listens at ${url}. Events wait until your program is up.`);
    await sleep(RETRY_MS, undefined, { signal: terminal.ending }).catch(() => {});
    if (terminal.ending.aborted) return answer;
  }
}

function jsonLine(
  { id, type, tenant }: { id: string; type: string; tenant: string },
  job: Job,
  answer: LocalResponse,
) {
  return {
    event_id: id,
    type,
    tenant,
    delivery_id: job.resent?.deliveryId ?? null,
    is_resent: job.resent !== null,
    status: answer.kind === "answered" ? answer.status : null,
    error: answer.kind === "answered" ? null : answer.error,
    duration_ms: answer.kind === "refused" ? null : answer.durationMs,
    forwarded_at: new Date().toISOString(),
  };
}

function textLine(terminal: Terminal, type: string, job: Job, answer: LocalResponse): string {
  const isGood = answer.kind === "answered" && answer.status >= 200 && answer.status < 300;
  const result = answer.kind === "answered" ? String(answer.status) : clean(answer.error);
  const took = answer.kind === "refused" ? "" : ` in ${answer.durationMs} ms`;
  const time = toned(terminal, "quiet", timeText(new Date()).slice(11));
  const resent = job.resent === null ? "" : ", resent";
  return `${time}  ${toned(terminal, isGood ? "good" : "bad", result)}${took}  ${clean(type)}  ${clean(job.eventId)}${resent}`;
}

function signingOptions(flags: ListenFlags, secret: string, serverUrl: string): ForwardOptions {
  const headerPrefix = prefixOf(flags.headerPrefix);
  const schemes = schemesOf(flags.scheme, headerPrefix);
  requireSigningSecrets(schemes, secretsOf([secret]));
  return {
    secret,
    schemes,
    headerPrefix,
    format: flags.format,
    userAgent: `posthorn-listen/${VERSION}`,
    url: localUrl(flags.forwardTo),
    serverUrl,
  };
}

function localUrl(given: string | undefined): string {
  if (given === undefined) throw usage("--forward-to is required: the URL of your program.");
  const text = /^https?:\/\//i.test(given) ? given : `http://${given}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && url.username === "" && url.hash === "") return url.href;
  throw usage(
    `--forward-to must be a URL such as http://localhost:3000/hooks, not ${JSON.stringify(given)}.`,
  );
}
