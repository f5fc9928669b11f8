// The other workers of this machine, connected by Unix sockets. An event whose lanes one other worker owns is passed to
// that worker, which stores it. A delivery for a lane of another worker is inserted claimed by that worker and passed to
// it, so that it does not have to be fetched. Correctness does not depend on the socket: the sender looks for events
// without a reply in the database, and a delivery that does not arrive is found by reconciliation or when its worker is
// reaped. Workers of other machines are notified by the database.
import { randomBytes } from "node:crypto";
import { chmod, lstat, mkdir, readdir, unlink } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { BoundedMap } from "@posthorn/wire";
import type { StoredEvents } from "../fan-out/fan-out.ts";
import type { Planned } from "../fan-out/plan.ts";
import type { Event, Uuid } from "../model.ts";
import type { Logger } from "../observe/log.ts";
import { claim } from "../storage/queries/events/ingest.ts";
import {
  type DeliveriesFrame,
  type EventsFrame,
  encodeDeliveries,
  encodeEvents,
  encodeRefused,
  encodeStored,
  FrameReader,
  type PassedDelivery,
} from "./frames.ts";

export interface PeersOptions {
  readonly logger: Logger;
  /** Accepts deliveries, and returns the lanes that did not. */
  readonly accept: (frame: DeliveriesFrame) => Promise<readonly Uuid[]>;
  /** Stores events that another process passed. */
  readonly store: (events: readonly Event[]) => Promise<StoredEvents>;
  /** Deliveries claimed by this worker may have been lost on their way. */
  readonly onLost: () => void;
  /** A delivery claimed by that worker could not be passed to it. */
  readonly onNotPassed: (workerId: number) => void;
  /** That worker has closed its socket: its process may have ended. */
  readonly onGone: (workerId: number) => void;
}

export interface PeerAddress {
  readonly id: number;
  readonly socket: string | null;
}

interface Peer {
  readonly path: string;
  readonly socket: Socket;
  /** Called with the replies to passed events, by batch; with null if the connection is lost. */
  readonly replies: Map<number, (stored: StoredEvents | null) => void>;
  isOpen: boolean;
}

/** Changes with the format of the frames: processes of different versions do not connect to each other. */
const protocol = "v2";
/** A longer path does not fit in the address of a Unix socket. */
const maxPathBytes = 100;
/** How long deliveries of a lane that refused one are left in the database. */
const refusedPauseMs = 1_000;
/** After this time a worker that does not reply is considered stuck: half of the time that a publish may take. */
const replyMs = 2_500;
/** How long such a worker is not connected to; it may only have waited for the database. */
const stuckPauseMs = 5_000;
/** A worker on another machine has a path that does not exist here. */
const unreachablePauseMs = 30_000;
/** At this many unsent bytes the worker is too busy to receive more. */
const maxBufferedBytes = 8 * 1024 * 1024;
const maxLanes = 100_000;
/** Distinguishes a peer from a process that only checks whether the socket is in use (`removeIfDead`). */
const greeting = encodeRefused([]);

export class Peers {
  readonly #options: PeersOptions;
  readonly #byWorker = new Map<number, Peer>();
  readonly #unreachableUntil = new Map<string, number>();
  readonly #owners = new BoundedMap<Uuid, number>(maxLanes);
  readonly #refusedUntil = new BoundedMap<Uuid, number>(maxLanes);
  readonly #incoming = new Set<Socket>();
  #server: Server | null = null;
  #lastBatch = 0;

  constructor(options: PeersOptions) {
    this.#options = options;
  }

  /** The path of this worker's socket; null if it receives nothing. */
  get path(): string | null {
    return (this.#server?.address() as string | null | undefined) ?? null;
  }

  /** Receives deliveries from now on. Without a private folder for the socket it receives none. */
  async listen(): Promise<void> {
    try {
      const folder = await privateFolder();
      const path = join(folder, `${protocol}-${randomBytes(8).toString("hex")}.sock`);
      if (Buffer.byteLength(path) > maxPathBytes) return;
      const server = createServer((socket) => this.#receive(socket));
      await new Promise<void>((resolve, reject) => {
        server.once("error", reject).listen({ path, exclusive: true }, resolve);
      });
      server.on("error", () => {});
      this.#server = server;
    } catch (error) {
      this.#options.logger.debug("no socket for other processes; deliveries go through the database", {
        error: (error as Error).message,
      });
    }
  }

  async close(): Promise<void> {
    for (const peer of this.#byWorker.values()) peer.socket.destroy();
    this.#byWorker.clear();
    const server = this.#server;
    this.#server = null;
    if (server === null) return;
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const socket of this.#incoming) socket.destroy();
    await closed;
  }

  /** Connects to the delivering workers that it is not connected to. */
  update(others: readonly PeerAddress[]): void {
    const ids = new Set(others.map(({ id }) => id));
    for (const [id, peer] of this.#byWorker) {
      if (ids.has(id)) continue;
      peer.isOpen = false;
      peer.socket.destroy();
    }
    for (const { id, socket } of others)
      if (socket !== null && !this.#byWorker.has(id)) this.#connect(id, socket);
  }

  /** Notes the owners of lanes that this worker does not own; the others have no owner, or one that changed. */
  noteOwners(rows: readonly Planned[], owners: ReadonlyMap<Uuid, number>): void {
    for (const { endpointId, owner } of rows) if (owner !== null) this.#owners.delete(endpointId);
    for (const [endpointId, owner] of owners) this.#owners.set(endpointId, owner);
  }

  /** Returns the owner of a lane if it is connected and reads its socket. */
  ownerOf(endpointId: Uuid): number | null {
    const owner = this.#owners.get(endpointId);
    return owner !== undefined && this.#canReceive(owner) ? owner : null;
  }

  get isAlone(): boolean {
    return this.#byWorker.size === 0;
  }

  /** Returns false if the lane's owner has just refused a delivery. */
  accepts(endpointId: Uuid): boolean {
    const refusedUntil = this.#refusedUntil.get(endpointId);
    return refusedUntil === undefined || performance.now() >= refusedUntil;
  }

  /**
   * Passes new events to the worker that owns their lanes. Resolves with null if it is unknown what that worker has
   * stored, or may still store.
   */
  passEvents(workerId: number, events: readonly Event[]): Promise<StoredEvents | null> {
    const peer = this.#byWorker.get(workerId);
    if (!peer?.isOpen) return Promise.resolve(null);
    this.#lastBatch += 1;
    const batch = this.#lastBatch;
    return new Promise((resolve) => {
      const stuck = setTimeout(() => {
        this.#unreachableUntil.set(peer.path, performance.now() + stuckPauseMs);
        peer.socket.destroy();
      }, replyMs);
      peer.replies.set(batch, (stored) => {
        clearTimeout(stuck);
        peer.replies.delete(batch);
        resolve(stored);
      });
      peer.socket.write(encodeEvents({ batch, events }));
    });
  }

  /** Passes stored deliveries to the owners of their lanes, and notifies them of lanes with unclaimed ones. */
  pass(rows: readonly Planned[]): void {
    const byOwner = new Map<number, { deliveries: PassedDelivery[]; due: Set<Uuid> }>();
    for (const row of rows) {
      const owner = row.owner as number;
      const { deliveries, due } = byOwner.get(owner) ?? { deliveries: [], due: new Set() };
      byOwner.set(owner, { deliveries, due });
      if (row.claim === claim.byOwner) deliveries.push({ delivery: row, targetVersion: row.target.version });
      else due.add(row.endpointId);
    }
    for (const [workerId, { deliveries, due }] of byOwner)
      if (!this.#send({ workerId, deliveries, due: [...due] })) this.#options.onNotPassed(workerId);
  }

  /**
   * Notifies that worker of its lanes with unclaimed deliveries. Returns false if it is not connected, or too busy to
   * read its socket.
   */
  notifyDue(workerId: number, endpointIds: readonly Uuid[]): boolean {
    return this.#canReceive(workerId) && this.#send({ workerId, deliveries: [], due: endpointIds });
  }

  #canReceive(workerId: number): boolean {
    const peer = this.#byWorker.get(workerId);
    return peer?.isOpen === true && peer.socket.writableLength < maxBufferedBytes;
  }

  #send(frame: Omit<DeliveriesFrame, "kind">): boolean {
    const peer = this.#byWorker.get(frame.workerId);
    if (!peer?.isOpen) return false;
    peer.socket.write(encodeDeliveries(frame));
    return true;
  }

  #connect(workerId: number, path: string): void {
    // the socket of another user, version or machine
    if (!path.startsWith(join(folderOf(userInfo().uid), `${protocol}-`))) return;
    const now = performance.now();
    if (now < (this.#unreachableUntil.get(path) ?? 0)) return;
    const socket = connect(path);
    const peer: Peer = { path, socket, replies: new Map(), isOpen: false };
    this.#byWorker.set(workerId, peer);
    const reader = new FrameReader();
    socket.unref();
    socket.once("connect", () => {
      peer.isOpen = true;
      socket.write(greeting);
    });
    socket.on("error", () => this.#unreachableUntil.set(path, now + unreachablePauseMs));
    socket.on("data", (chunk: Buffer) => {
      for (const frame of this.#read(socket, reader, chunk)) {
        if (frame.kind === "refused") this.#noteRefused(frame.endpointIds);
        else if (frame.kind === "stored") {
          this.#noteRefused(frame.stored.refusedLanes);
          peer.replies.get(frame.batch)?.(frame.stored);
        }
      }
    });
    socket.once("close", () => {
      const hasLeft = peer.isOpen && this.#byWorker.get(workerId) === peer;
      peer.isOpen = false;
      for (const reply of [...peer.replies.values()]) reply(null);
      if (this.#byWorker.get(workerId) === peer) this.#byWorker.delete(workerId);
      if (hasLeft) this.#options.onGone(workerId);
    });
  }

  #noteRefused(endpointIds: readonly Uuid[]): void {
    const until = performance.now() + refusedPauseMs;
    for (const id of endpointIds) this.#refusedUntil.set(id, until);
  }

  #receive(socket: Socket): void {
    const reader = new FrameReader();
    let isPeer = false;
    this.#incoming.add(socket);
    socket.unref();
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => {
      isPeer = true;
      for (const frame of this.#read(socket, reader, chunk)) {
        if (frame.kind === "deliveries") void this.#accept(frame, socket);
        else if (frame.kind === "events") void this.#store(frame, socket);
      }
    });
    socket.once("close", () => {
      this.#incoming.delete(socket);
      if (isPeer) this.#options.onLost();
    });
  }

  async #accept(frame: DeliveriesFrame, socket: Socket): Promise<void> {
    const refused = await this.#options.accept(frame);
    if (refused.length > 0 && !socket.destroyed) socket.write(encodeRefused(refused));
  }

  async #store({ batch, events }: EventsFrame, socket: Socket): Promise<void> {
    const stored = await this.#options.store(events);
    if (!socket.destroyed) socket.write(encodeStored({ batch, stored }));
  }

  #read(socket: Socket, reader: FrameReader, chunk: Buffer) {
    try {
      return reader.read(chunk);
    } catch (error) {
      this.#options.logger.warn("closed the connection to another process because of an invalid frame", {
        error: (error as Error).message,
      });
      socket.destroy();
      return [];
    }
  }
}

const folderOf = (uid: number): string => join(tmpdir(), `posthorn-${uid}`);

/** Returns a folder that only this user can enter. Removes the sockets that killed processes left there. */
async function privateFolder(): Promise<string> {
  const { uid } = userInfo();
  const folder = folderOf(uid);
  await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== "EEXIST") throw error;
  });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== uid) throw new Error(`${folder} belongs to another user`);
  if ((found.mode & 0o077) !== 0) await chmod(folder, 0o700);
  for (const name of await readdir(folder)) removeIfDead(join(folder, name));
  return folder;
}

function removeIfDead(path: string): void {
  const socket = connect(path, () => socket.destroy());
  socket.unref();
  socket.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code === "ECONNREFUSED") void unlink(path).catch(() => {});
  });
}
