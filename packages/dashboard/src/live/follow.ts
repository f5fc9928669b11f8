// Keeps a stream open: reconnects with backoff after the last message id, and stops when the session has ended or access
// is denied.

/** `refused`: the session may not read the stream (403). `over`: the session has ended (401). */
export type StreamState = "connecting" | "live" | "lost" | "refused" | "over";

export interface FollowOptions {
  readonly request: (lastId: string | null, signal: AbortSignal) => Promise<Response>;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly lastId: string | null;
  readonly onState: (state: StreamState) => void;
  readonly onMessage: (message: StreamMessage) => void;
  readonly signal: AbortSignal;
  readonly nowMs?: () => number;
  readonly random?: () => number;
}

const MIN_WAIT_MS = 1_000;
const MAX_WAIT_MS = 15_000;
/** The longest Retry-After that is honoured. */
const MAX_RETRY_AFTER_MS = 60_000;
/** A connection that breaks sooner counts as another failure. */
const STABLE_MS = 5_000;
/** The server sends a message every 15 s; a connection without any for this long is dead. */
export const SILENCE_LIMIT_MS = 45_000;

export async function follow(options: FollowOptions): Promise<void> {
  const { pause, onState, signal, nowMs = Date.now, random = Math.random } = options;
  let { lastId } = options;
  let failures = 0;
  onState("connecting");
  while (!signal.aborted) {
    const connection = await connect({ ...options, lastId, onId: (id) => (lastId = id), nowMs });
    if (signal.aborted) return;
    if (connection.result === "over" || connection.result === "refused") return onState(connection.result);
    onState("lost");
    failures = connection.openMs >= STABLE_MS ? 1 : failures + 1;
    await pause(waitMs(failures, connection.retryAfterMs, random()), signal);
  }
}

/** The wait before reconnecting: exponential, at least Retry-After, with up to 50 % jitter. */
export function waitMs(failures: number, retryAfterMs: number, random: number): number {
  const own = Math.min(MIN_WAIT_MS * 2 ** (failures - 1), MAX_WAIT_MS);
  return Math.max(own, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS)) * (1 + random / 2);
}

interface Connection {
  readonly result: "broke" | "over" | "refused";
  readonly openMs: number;
  readonly retryAfterMs: number;
}

async function connect({
  request,
  lastId,
  onId,
  onState,
  onMessage,
  signal,
  nowMs,
}: FollowOptions & {
  readonly onId: (id: string) => void;
  readonly nowMs: () => number;
}): Promise<Connection> {
  let openedAt: number | null = null;
  const silence = new SilenceTimer(signal);
  const broke = (retryAfterMs = 0): Connection => ({
    result: "broke",
    openMs: openedAt === null ? 0 : nowMs() - openedAt,
    retryAfterMs,
  });
  try {
    const response = await request(lastId, silence.signal);
    if (response.status === 401) return { ...broke(), result: "over" };
    if (response.status === 403) return { ...broke(), result: "refused" };
    if (!response.ok || response.body === null) return broke(retryAfterMs(response));
    openedAt = nowMs();
    onState("live");
    for await (const message of messagesOf(response.body, silence)) {
      if (message.id !== null) onId(message.id);
      onMessage(message);
    }
  } catch {
    // the connection broke
  } finally {
    silence.end();
  }
  return broke();
}

async function* messagesOf(body: ReadableStream<Uint8Array>, silence: SilenceTimer) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    silence.reset();
    const { messages, rest } = parseMessages(text + decoder.decode(value, { stream: true }));
    text = rest;
    yield* messages;
  }
}

/** Aborts a connection that is silent for too long, for example after the computer slept. */
class SilenceTimer {
  readonly #controller = new AbortController();
  readonly signal: AbortSignal;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(signal: AbortSignal) {
    this.signal = AbortSignal.any([signal, this.#controller.signal]);
    this.reset();
  }

  reset(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), SILENCE_LIMIT_MS);
  }

  end(): void {
    clearTimeout(this.#timer);
    // also cancels an unread response body
    this.#controller.abort();
  }
}

function retryAfterMs(response: Response): number {
  const seconds = Number(response.headers.get("retry-after") ?? "0");
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 0;
}

/** A server-sent event, read by fetch: EventSource cannot send the posthorn-dashboard header. */
export interface StreamMessage {
  readonly id: string | null;
  readonly event: string;
  readonly data: string;
}

/** Returns the complete messages in `text` and the incomplete rest. */
export function parseMessages(text: string): {
  readonly messages: readonly StreamMessage[];
  readonly rest: string;
} {
  const parts = text.split("\n\n");
  const rest = parts.pop() ?? "";
  return { messages: parts.flatMap(readMessage), rest };
}

function readMessage(part: string): readonly StreamMessage[] {
  const fields = new Map<string, string>();
  for (const line of part.split("\n")) {
    const [, name = "", value = ""] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (name !== "") fields.set(name, value);
  }
  const data = fields.get("data");
  if (data === undefined) return [];
  return [{ id: fields.get("id") ?? null, event: fields.get("event") ?? "message", data }];
}
