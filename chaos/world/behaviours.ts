// How receivers respond: usually 200, sometimes with one of the failures a sender must handle.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Random } from "../random.ts";

export interface Exchange {
  readonly response: ServerResponse;
  readonly socket: Socket;
  readonly random: Random;
  /** The target of redirects, which must not be followed. */
  readonly forbiddenUrl: string;
  /** Records that the status line is being written. */
  responding(status: number, retryAfterMs?: number): void;
  /** Records that the receiver is done. */
  done(): void;
}

interface Behaviour {
  /** Share of requests, in percent. */
  readonly weight: number;
  /** False: acts before the body is read. */
  readonly readsBody: boolean;
  readonly act: (exchange: Exchange) => void;
}

const withBody = { weight: 0, readsBody: true } as const;

export const behaviours = {
  ok: { ...withBody, weight: 70, act: (it) => respond(it, 200) },
  slow: {
    ...withBody,
    weight: 6,
    act: (it) => later(it, it.random.between(100, 1_500), () => respond(it, 200)),
  },
  "error 500": { ...withBody, weight: 3, act: (it) => respond(it, 500) },
  "503 with Retry-After": { ...withBody, weight: 2, act: (it) => respond(it, 503, 1_000) },
  "429 with Retry-After": { ...withBody, weight: 2, act: (it) => respond(it, 429, 1_000) },
  "redirect to a forbidden address": { ...withBody, weight: 1, act: redirect },
  hang: { ...withBody, weight: 2, act: () => {} },
  "reset before reading": { weight: 2, readsBody: false, act: reset },
  // the sender cannot distinguish it from a request that never arrived
  "reset after processing": { ...withBody, weight: 3, act: reset },
  "200, then reset": { ...withBody, weight: 2, act: respondThenReset },
  "200, slow body": { ...withBody, weight: 2, act: drip },
  "ten 103 responses, then 200": { ...withBody, weight: 2, act: sendEarlyHints },
  "not HTTP": { ...withBody, weight: 1, act: sendGarbage },
  "200, then the idle connection closed": { ...withBody, weight: 2, act: respondThenClose },
} as const satisfies Record<string, Behaviour>;

export type BehaviourName = keyof typeof behaviours;

export function chooseBehaviour(random: Random): BehaviourName {
  let rest = random.between(0, 100);
  for (const [name, { weight }] of Object.entries(behaviours)) {
    rest -= weight;
    if (rest < 0) return name as BehaviourName;
  }
  return "ok";
}

function respond(it: Exchange, status: number, retryAfterMs?: number): void {
  if (it.socket.destroyed) return;
  const headers = retryAfterMs === undefined ? {} : { "retry-after": String(retryAfterMs / 1_000) };
  it.responding(status, retryAfterMs);
  it.done();
  it.response.writeHead(status, headers).end("ok");
}

function redirect(it: Exchange): void {
  it.responding(302);
  it.done();
  it.response.writeHead(302, { location: it.forbiddenUrl }).end();
}

function reset(it: Exchange): void {
  it.done();
  it.socket.resetAndDestroy();
}

function respondThenReset(it: Exchange): void {
  it.responding(200);
  // the reset must not overtake the status line
  it.socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of", () =>
    later(it, 20, () => reset(it)),
  );
}

function drip(it: Exchange): void {
  const drops = 5 + Math.floor(it.random.between(0, 25));
  it.responding(200);
  it.response.writeHead(200, { "content-length": drops });
  let left = drops;
  const timer = setInterval(() => {
    left -= 1;
    if (it.socket.destroyed) clearInterval(timer);
    else if (left > 0) it.response.write(".");
    else {
      clearInterval(timer);
      it.done();
      it.response.end(".");
    }
  }, 100);
}

function sendEarlyHints(it: Exchange): void {
  for (let count = 0; count < 10; count += 1) it.socket.write("HTTP/1.1 103 Early Hints\r\n\r\n");
  respond(it, 200);
}

function sendGarbage(it: Exchange): void {
  it.done();
  it.socket.end("SSH-2.0-whatever\r\n");
}

/** Closes the idle connection, possibly while the next request is sent on it. */
function respondThenClose(it: Exchange): void {
  respond(it, 200);
  it.response.once("finish", () => setTimeout(() => it.socket.destroy(), it.random.between(0, 5)));
}

function later(it: Exchange, ms: number, act: () => void): void {
  setTimeout(() => {
    if (!it.socket.destroyed) act();
  }, ms);
}
