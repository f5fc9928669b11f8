// Injects the planned faults and removes them at the end.
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { monotonicMs } from "../../benchmarks/system/monotonic.ts";
import type { ChaosProxy } from "../../tests/support/database/chaos-proxy.ts";
import { eventually } from "../../tests/support/eventually.ts";
import type { InjectedFault } from "../evidence/evidence.ts";
import type { ServerSlot } from "../world/server-slot.ts";
import type { World } from "../world/world.ts";
import type { Fault, FaultKind } from "./faults.ts";

const latencyMs = 40;
const readyMs = 30_000;
/** Number of consecutive lost replies. */
const lostReplies = 3;

export class FaultInjector {
  readonly injectedFaults: InjectedFault[] = [];
  readonly #world: World;
  readonly #pending = new Set<Promise<void>>();
  readonly #wake = new AbortController();
  readonly #failures: unknown[] = [];
  /** Serializes faults on the database. */
  #databaseTurn: Promise<void> = Promise.resolve();

  constructor(world: World) {
    this.#world = world;
  }

  async run(faults: readonly Fault[], chaosMs: number): Promise<void> {
    const start = monotonicMs();
    for (const fault of faults) {
      await delay(Math.max(0, start + fault.afterMs - monotonicMs()));
      const done = this.#inject(fault)
        .catch((error) => this.#failures.push(error))
        .then(() => void this.#pending.delete(done));
      this.#pending.add(done);
    }
    await delay(Math.max(0, start + chaosMs - monotonicMs()));
  }

  /** Ends all faults and resolves when all processes are ready. */
  async heal(): Promise<void> {
    const { slots } = this.#world;
    this.#wake.abort();
    await Promise.all(this.#pending);
    if (this.#failures.length > 0) throw this.#failures[0];
    for (const slot of slots) {
      slot.thaw();
      slot.start();
    }
    const isOver = this.#world.deadlineIn(readyMs);
    await Promise.all(slots.map((slot) => slot.untilReady(isOver)));
  }

  async #inject(fault: Fault): Promise<void> {
    const { kind, forMs } = fault;
    const { postgres } = this.#world;
    switch (kind) {
      case "kill worker":
      case "kill api":
      case "terminate worker":
        return await this.#end(fault, kind === "kill api" ? "api" : "worker");
      case "freeze worker":
        return await this.#during(fault, (slot) => {
          slot.freeze();
          return () => slot.thaw();
        });
      case "jump clock":
        return await this.#during(fault, (slot) => slot.stepClock(fault.clockStepMs));
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
        return await this.#between(fault, (proxy) => proxy.cut());
      case "partition":
        return await this.#between(fault, async (proxy) => {
          proxy.blackhole();
          await this.#wait(forMs);
          proxy.heal();
          // the server notices later than the client that the connections are gone
          await this.#wait(forMs);
          proxy.endBlackHoled();
        });
      case "slow network":
        return await this.#between(fault, async (proxy) => {
          proxy.slowDown(latencyMs);
          await this.#wait(forMs);
          proxy.slowDown(0);
        });
      case "lose replies":
        return await this.#between(fault, async (proxy) => {
          for (let count = 0; count < lostReplies; count += 1) {
            await Promise.race([proxy.loseNextReply(fault.replies.statement), this.#wait(forMs)]);
          }
          proxy.heal();
        });
    }
  }

  /** Injects a fault between one client and the database. */
  async #between(fault: Fault, work: (proxy: ChaosProxy) => unknown): Promise<void> {
    const { slots, libraryProxy } = this.#world;
    const isEligible = ({ role, liveName, proxy }: ServerSlot): boolean =>
      liveName !== null && proxy !== null && (fault.kind !== "lose replies" || role === fault.replies.to);
    const clients = slots
      .filter(isEligible)
      .map((slot) => ({ name: slot.liveName, proxy: slot.proxy as ChaosProxy }));
    const isLibraryEligible = fault.kind !== "lose replies" || fault.replies.to === "library";
    const all = isLibraryEligible ? [...clients, { name: "library", proxy: libraryProxy }] : clients;
    const client = all[Math.floor(fault.choice * all.length)];
    if (client !== undefined) await this.#record(fault.kind, client.name, () => work(client.proxy));
  }

  async #end(fault: Fault, role: ServerSlot["role"]): Promise<void> {
    const slot = await this.#choose(fault, role);
    if (slot === null) return;
    const signal = fault.kind === "terminate worker" ? "SIGTERM" : "SIGKILL";
    await this.#record(fault.kind, slot.liveName, () => slot.end(signal));
    await this.#wait(fault.forMs);
    slot.start();
  }

  /** `begin` returns the function that ends the fault. */
  async #during(fault: Fault, begin: (slot: ServerSlot) => () => void): Promise<void> {
    const slot = await this.#choose(fault, "worker");
    if (slot === null) return;
    await this.#record(fault.kind, slot.liveName, async () => {
      const end = begin(slot);
      await this.#wait(fault.forMs);
      end();
    });
  }

  /** Selects a process, in nine of ten cases one with open requests. */
  async #choose({ choice }: Fault, role: ServerSlot["role"]): Promise<ServerSlot | null> {
    const { slots, receivers } = this.#world;
    const open = await receivers.call<Record<string, number>>("openBySender");
    const live = slots.filter((slot) => slot.role === role && slot.liveName !== null);
    const busy = live.filter((slot) => (open[slot.liveName as string] ?? 0) > 0);
    const candidates = busy.length > 0 && choice < 0.9 ? busy : live;
    return candidates[Math.floor((choice * 1_000) % Math.max(1, candidates.length))] ?? null;
  }

  async #setReadOnly(value: "on" | "off"): Promise<void> {
    const { postgres } = this.#world;
    await postgres.query(`alter system set default_transaction_read_only = ${value}`);
    await postgres.query("select pg_reload_conf()");
    await eventually(`read only is ${value}`, async () => {
      const rows = await postgres.query<{ value: string }>(
        "select current_setting('default_transaction_read_only') as value",
      );
      return rows[0]?.value === value;
    });
  }

  #inTurn(kind: FaultKind, work: () => Promise<unknown>): Promise<void> {
    const turn = this.#databaseTurn.then(() => this.#record(kind, null, work));
    this.#databaseTurn = turn.catch(() => {});
    return turn;
  }

  async #record(kind: FaultKind, victim: string | null, work: () => unknown): Promise<void> {
    const injected: InjectedFault = { kind, victim, at: monotonicMs(), until: Number.POSITIVE_INFINITY };
    this.injectedFaults.push(injected);
    await work();
    injected.until = monotonicMs();
    appendFileSync(join(this.#world.logsDir, "faults.jsonl"), `${JSON.stringify(injected)}\n`);
  }

  async #wait(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#wake.signal }).catch(() => {});
  }
}
