// Holds a stream open: reads it, and opens it again when it breaks, going on after the last message. A server that is
// away, or has no room, is asked ever less often; one that does not know us any more is not asked again.
import { takeMessages } from "./event-stream.ts";

/** refused: whoever is signed in may not see this. over: nobody is signed in any more. */
export type StreamState = "connecting" | "live" | "lost" | "refused" | "over";

export interface FollowOptions {
  readonly request: (lastId: string | null, signal: AbortSignal) => Promise<Response>;
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly lastId: string | null;
  readonly onState: (state: StreamState) => void;
  readonly onMessage: (message: {
    readonly id: string | null;
    readonly event: string;
    readonly data: string;
  }) => void;
  readonly signal: AbortSignal;
  readonly nowMs?: () => number;
  readonly random?: () => number;
}

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 15_000;
/** A server that asks for more than this is asked all the same: nobody looks at a page for longer. */
const LONGEST_ASKED_MS = 60_000;
/** What broke sooner after it was opened counts as another failure. */
const STEADY_MS = 5_000;
/** The server says something every 15 s: a connection that is silent for so long is none. */
export const SILENT_MS = 45_000;

export async function follow(options: FollowOptions): Promise<void> {
  const { pause, onState, signal, nowMs = Date.now, random = Math.random } = options;
  let { lastId } = options;
  let failures = 0;
  onState("connecting");
  while (!signal.aborted) {
    const connection = await connect({ ...options, lastId, onId: (id) => (lastId = id), nowMs });
    if (signal.aborted) return;
    if (connection.answer === "over" || connection.answer === "refused") return onState(connection.answer);
    onState("lost");
    failures = connection.heldMs >= STEADY_MS ? 1 : failures + 1;
    await pause(waitMs(failures, connection.askedMs, random()), signal);
  }
}

/** Never sooner than the server asked for; and not all pages of a server that was away at once. */
export function waitMs(failures: number, askedMs: number, random: number): number {
  const own = Math.min(FIRST_WAIT_MS * 2 ** (failures - 1), LONGEST_WAIT_MS);
  return Math.max(own, Math.min(askedMs, LONGEST_ASKED_MS)) * (1 + random / 2);
}

interface Connection {
  readonly answer: "broke" | "over" | "refused";
  /** How long it was open. */
  readonly heldMs: number;
  /** By Retry-After. */
  readonly askedMs: number;
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
  const silence = new Silence(signal);
  const broke = (askedMs = 0): Connection => ({
    answer: "broke",
    heldMs: openedAt === null ? 0 : nowMs() - openedAt,
    askedMs,
  });
  try {
    const response = await request(lastId, silence.signal);
    if (response.status === 401) return { ...broke(), answer: "over" };
    if (response.status === 403) return { ...broke(), answer: "refused" };
    if (!response.ok || response.body === null) return broke(retryAfterMs(response));
    openedAt = nowMs();
    onState("live");
    for await (const message of messagesOf(response.body, silence)) {
      if (message.id !== null) onId(message.id);
      onMessage(message);
    }
  } catch {
    // it broke
  } finally {
    silence.end();
  }
  return broke();
}

async function* messagesOf(body: ReadableStream<Uint8Array>, silence: Silence) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    silence.broken();
    const { messages, rest } = takeMessages(text + decoder.decode(value, { stream: true }));
    text = rest;
    yield* messages;
  }
}

/** Ends a connection on which nothing came for long, as after a laptop was closed. */
class Silence {
  readonly #controller = new AbortController();
  readonly signal: AbortSignal;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(signal: AbortSignal) {
    this.signal = AbortSignal.any([signal, this.#controller.signal]);
    this.broken();
  }

  broken(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#controller.abort(), SILENT_MS);
  }

  end(): void {
    clearTimeout(this.#timer);
    // also what is left of an answer that nobody reads
    this.#controller.abort();
  }
}

function retryAfterMs(response: Response): number {
  const seconds = Number(response.headers.get("retry-after") ?? "0");
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 0;
}
