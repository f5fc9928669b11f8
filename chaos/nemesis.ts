// Carries the strikes out, and mends everything in the end.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { monotonicMs } from "../benchmarks/monotonic.ts";
import { eventually } from "../tests/support/audit.ts";
import type { ChaosProxy } from "../tests/support/chaos-proxy.ts";
import type { Deed } from "./evidence.ts";
import type { ServerSlot } from "./server-slot.ts";
import type { Strike, StrikeKind } from "./strikes.ts";
import type { World } from "./world.ts";

const latencyMs = 40;
/** Replies that are lost one after the other. */
const lostReplies = 3;

export class Nemesis {
  readonly deeds: Deed[] = [];
  readonly #world: World;
  readonly #say: (line: string) => void;
  readonly #pending = new Set<Promise<void>>();
  readonly #wake = new AbortController();
  readonly #failures: unknown[] = [];
  /** Those that change the whole database take turns. */
  #databaseTurn: Promise<void> = Promise.resolve();

  constructor(world: World, say: (line: string) => void) {
    this.#world = world;
    this.#say = say;
  }

  async run(strikes: readonly Strike[], chaosMs: number): Promise<void> {
    const start = monotonicMs();
    for (const strike of strikes) {
      await delay(Math.max(0, start + strike.afterMs - monotonicMs()));
      const done = this.#carryOut(strike)
        .catch((error) => this.#failures.push(error))
        .then(() => void this.#pending.delete(done));
      this.#pending.add(done);
    }
    await delay(Math.max(0, start + chaosMs - monotonicMs()));
  }

  /** Ends every strike at once; resolves when all processes are up. */
  async heal(): Promise<void> {
    const { slots } = this.#world;
    this.#wake.abort();
    await Promise.all(this.#pending);
    if (this.#failures.length > 0) throw this.#failures[0];
    for (const slot of slots) {
      slot.thaw();
      slot.start();
    }
    await Promise.all(slots.map((slot) => slot.untilReady(30_000)));
  }

  async #carryOut(strike: Strike): Promise<void> {
    const { kind, forMs } = strike;
    const { postgres } = this.#world;
    switch (kind) {
      case "kill worker":
      case "kill api":
      case "terminate worker":
        return await this.#end(strike, kind === "kill api" ? "api" : "worker");
      case "freeze worker":
        return await this.#freeze(strike);
      case "jump clock":
        return await this.#jumpClock(strike);
      case "restart database":
        return await this.#inTurn(kind, async () => {
          await postgres.stopImmediately();
          await this.#wait(forMs);
          await postgres.start();
        });
      case "read only":
        return await this.#inTurn(kind, async () => {
          await this.#setReadOnly("on");
          await this.#wait(forMs);
          await this.#setReadOnly("off");
        });
      case "terminate backends":
        return await this.#inTurn(kind, () =>
          postgres.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()",
          ),
        );
      case "cut off":
        return await this.#between(strike, (proxy) => proxy.cut());
      case "partition":
        return await this.#between(strike, async (proxy) => {
          proxy.blackhole();
          await this.#wait(forMs);
          proxy.heal();
          // the server hears later than the client that their connections are gone
          await this.#wait(forMs);
          proxy.bury();
        });
      case "slow network":
        return await this.#between(strike, async (proxy) => {
          proxy.slowDown(latencyMs);
          await this.#wait(forMs);
          proxy.slowDown(0);
        });
      case "lose replies":
        return await this.#between(strike, async (proxy) => {
          for (let count = 0; count < lostReplies; count += 1) {
            await Promise.race([proxy.loseNextReply(strike.replies.statement), this.#wait(forMs)]);
          }
          proxy.heal();
        });
    }
  }

  /** Something happens on the way between one client and the database. */
  async #between(strike: Strike, work: (proxy: ChaosProxy) => unknown): Promise<void> {
    const { slots, libraryProxy } = this.#world;
    const isFit = ({ role, liveName, proxy }: ServerSlot): boolean =>
      liveName !== null && proxy !== null && (strike.kind !== "lose replies" || role === strike.replies.to);
    const clients = slots
      .filter(isFit)
      .map((slot) => ({ name: slot.liveName, proxy: slot.proxy as ChaosProxy }));
    const isLibraryFit = strike.kind !== "lose replies" || strike.replies.to === "library";
    const all = isLibraryFit ? [...clients, { name: "library", proxy: libraryProxy }] : clients;
    const client = all[Math.floor(strike.choice * all.length)];
    if (client !== undefined) await this.#note(strike.kind, client.name, () => work(client.proxy));
  }

  async #end(strike: Strike, role: ServerSlot["role"]): Promise<void> {
    const slot = await this.#choose(strike, role);
    if (slot === null) return;
    const signal = strike.kind === "terminate worker" ? "SIGTERM" : "SIGKILL";
    await this.#note(strike.kind, slot.liveName, () => slot.end(signal));
    await this.#wait(strike.forMs);
    slot.start();
  }

  async #freeze(strike: Strike): Promise<void> {
    const slot = await this.#choose(strike, "worker");
    if (slot === null) return;
    await this.#note(strike.kind, slot.liveName, async () => {
      slot.freeze();
      await this.#wait(strike.forMs);
      slot.thaw();
    });
  }

  async #jumpClock(strike: Strike): Promise<void> {
    const slot = await this.#choose(strike, "worker");
    if (slot === null) return;
    const { clockStepMs, forMs } = strike;
    this.#say(
      `the clock of ${slot.liveName} jumps by ${clockStepMs / 3_600_000} h for ${(forMs / 1_000).toFixed(1)} s`,
    );
    await this.#note(strike.kind, slot.liveName, async () => {
      const stepBack = slot.stepClock(clockStepMs);
      await this.#wait(forMs);
      stepBack();
    });
  }

  /** Mostly one that is in the middle of something: there it hurts. */
  async #choose({ choice }: Strike, role: ServerSlot["role"]): Promise<ServerSlot | null> {
    const { slots, receivers } = this.#world;
    const open = await receivers.ask<Record<string, number>>("openBySender");
    const live = slots.filter((slot) => slot.role === role && slot.liveName !== null);
    const busy = live.filter((slot) => (open[slot.liveName as string] ?? 0) > 0);
    const candidates = busy.length > 0 && choice < 0.9 ? busy : live;
    return candidates[Math.floor((choice * 1_000) % Math.max(1, candidates.length))] ?? null;
  }

  async #setReadOnly(value: "on" | "off"): Promise<void> {
    const { postgres } = this.#world;
    await postgres.query(`alter system set default_transaction_read_only = ${value}`);
    await postgres.query("select pg_reload_conf()");
    await eventually(
      `read only is ${value}`,
      async () => {
        const rows = await postgres.query<{ value: string }>(
          "select current_setting('default_transaction_read_only') as value",
        );
        return rows[0]?.value === value;
      },
      5_000,
    );
  }

  #inTurn(kind: StrikeKind, work: () => Promise<unknown>): Promise<void> {
    const turn = this.#databaseTurn.then(() => this.#note(kind, null, work));
    this.#databaseTurn = turn.catch(() => {});
    return turn;
  }

  async #note(kind: StrikeKind, victim: string | null, work: () => unknown): Promise<void> {
    const deed: Deed = { kind, victim, at: monotonicMs(), until: Number.POSITIVE_INFINITY };
    this.deeds.push(deed);
    await work();
    deed.until = monotonicMs();
    appendFileSync(join(this.#world.logsDir, "strikes.jsonl"), `${JSON.stringify(deed)}\n`);
  }

  async #wait(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#wake.signal }).catch(() => {});
  }
}
