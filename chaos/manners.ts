// How a receiver answers: mostly well, sometimes badly, in every way that a sender has to live with.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Random } from "./random.ts";

export interface Encounter {
  readonly response: ServerResponse;
  readonly socket: Socket;
  readonly random: Random;
  /** Where a redirect would lead to, if it were followed. */
  readonly forbiddenUrl: string;
  /** The status line is being written. */
  answering(status: number, retryAfterMs?: number): void;
  /** The receiver has no more to do with it. */
  done(): void;
}

interface Manner {
  /** Of 100 requests. */
  readonly weight: number;
  /** False: it acts on the head alone. */
  readonly readsBody: boolean;
  readonly act: (encounter: Encounter) => void;
}

const afterwards = { weight: 0, readsBody: true } as const;

export const manners = {
  well: { ...afterwards, weight: 70, act: (it) => answer(it, 200) },
  slow: {
    ...afterwards,
    weight: 6,
    act: (it) => later(it, it.random.between(100, 1_500), () => answer(it, 200)),
  },
  "error 500": { ...afterwards, weight: 3, act: (it) => answer(it, 500) },
  "503, come back in a second": { ...afterwards, weight: 2, act: (it) => answer(it, 503, 1_000) },
  "429, come back in a second": { ...afterwards, weight: 2, act: (it) => answer(it, 429, 1_000) },
  "redirect to a forbidden place": { ...afterwards, weight: 1, act: redirect },
  hang: { ...afterwards, weight: 2, act: () => {} },
  "reset unread": { weight: 2, readsBody: false, act: reset },
  // the one nobody can tell from a request that never arrived
  "reset after processing": { ...afterwards, weight: 3, act: reset },
  "200, then reset": { ...afterwards, weight: 2, act: answerThenReset },
  "200 by drops": { ...afterwards, weight: 2, act: drip },
  "ten informational answers first": { ...afterwards, weight: 2, act: informFirst },
  "no HTTP at all": { ...afterwards, weight: 1, act: babble },
  "200, then the idle connection closed": { ...afterwards, weight: 2, act: answerThenClose },
} as const satisfies Record<string, Manner>;

export type MannerName = keyof typeof manners;

export function chooseManner(random: Random): MannerName {
  let rest = random.between(0, 100);
  for (const [name, { weight }] of Object.entries(manners)) {
    rest -= weight;
    if (rest < 0) return name as MannerName;
  }
  return "well";
}

function answer(it: Encounter, status: number, retryAfterMs?: number): void {
  if (it.socket.destroyed) return;
  const headers = retryAfterMs === undefined ? {} : { "retry-after": String(retryAfterMs / 1_000) };
  it.answering(status, retryAfterMs);
  it.done();
  it.response.writeHead(status, headers).end("noted");
}

function redirect(it: Encounter): void {
  it.answering(302);
  it.done();
  it.response.writeHead(302, { location: it.forbiddenUrl }).end();
}

function reset(it: Encounter): void {
  it.done();
  it.socket.resetAndDestroy();
}

function answerThenReset(it: Encounter): void {
  it.answering(200);
  // the reset must not overtake the status line, which would be another manner
  it.socket.write("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf of", () =>
    later(it, 20, () => reset(it)),
  );
}

function drip(it: Encounter): void {
  const drops = 5 + Math.floor(it.random.between(0, 25));
  it.answering(200);
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

function informFirst(it: Encounter): void {
  for (let count = 0; count < 10; count += 1) it.socket.write("HTTP/1.1 103 Early Hints\r\n\r\n");
  answer(it, 200);
}

function babble(it: Encounter): void {
  it.done();
  it.socket.end("SSH-2.0-whatever\r\n");
}

/** The next request may be on its way over it. */
function answerThenClose(it: Encounter): void {
  answer(it, 200);
  it.response.once("finish", () => setTimeout(() => it.socket.destroy(), it.random.between(0, 5)));
}

function later(it: Encounter, ms: number, act: () => void): void {
  setTimeout(() => {
    if (!it.socket.destroyed) act();
  }, ms);
}
