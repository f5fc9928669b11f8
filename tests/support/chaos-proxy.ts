// Stands between a pg client and its server and misbehaves on command: connections cut, bytes that come late or vanish,
// and statements whose reply never comes although the server carried them out.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
// biome-ignore lint/plugin: the latency of a simulated network
import { setTimeout as delay } from "node:timers/promises";

export interface ChaosProxy {
  /** A URL of the database, by way of the proxy. */
  connectionString: string;
  /** Connections open through it. */
  readonly connections: number;
  /** Resets every connection, now; whatever the server had received by then it still carries out. */
  cut(): void;
  /** From now on nothing arrives in either direction, and nobody is told. New connections get no answer either. */
  blackhole(): void;
  /**
   * New connections pass again; those that were black-holed stay dead, as behind a firewall that forgot them. Replies
   * that have not been lost yet will not be.
   */
  heal(): void;
  /** The server learns that black-holed connections are gone, as its keepalive would tell it some time. */
  bury(): void;
  /** From now on everything arrives this much later, in both directions. 0 ends it. */
  slowDown(ms: number): void;
  /** Resolves when the next statement that contains the text was carried out and its reply thrown away. */
  loseNextReply(text: string): Promise<void>;
  /** As above, but the client's connection is reset as soon as the statement is on its way: it may still be waiting. */
  cutAtNext(text: string): Promise<void>;
  /** As above, and the statement is late: it reaches the server only when the returned function is called. */
  delayNext(text: string): Promise<() => void>;
  close(): Promise<void>;
}

interface Trap {
  readonly text: string;
  readonly kind: "lose reply" | "cut" | "delay";
  /** Called with what sends a delayed statement on its way. */
  readonly sprung: (deliver: () => void) => void;
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  isDead: boolean;
  trap: Trap | undefined;
  /** What a delayed statement consists of. */
  readonly late: Buffer[];
}

export async function startChaosProxy(connectionString: string): Promise<ChaosProxy> {
  const target = new URL(connectionString);
  const { searchParams } = target;
  const serverPath = join(searchParams.get("host") as string, `.s.PGSQL.${searchParams.get("port")}`);
  const links = new Set<Link>();
  const traps: Trap[] = [];
  const sending = new WeakMap<Socket, Promise<void>>();
  let isBlackHole = false;
  let latencyMs = 0;

  const listener = createServer((client) => {
    const server = connect(serverPath);
    const link: Link = { client, server, isDead: isBlackHole, trap: undefined, late: [] };
    links.add(link);
    client.on("data", (bytes) => pass(link, bytes));
    server.on("data", (bytes) => answer(link, bytes));
    for (const socket of [client, server]) {
      socket.on("error", () => {}); // "close" follows
      socket.on("close", () => end(link, socket));
    }
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");

  function pass(link: Link, bytes: Buffer): void {
    if (link.isDead) return;
    const index = link.trap === undefined ? traps.findIndex((trap) => bytes.includes(trap.text)) : -1;
    if (index !== -1) [link.trap] = traps.splice(index, 1);
    const { trap } = link;
    if (trap?.kind === "delay") link.late.push(bytes);
    else send(link.server, bytes);
    if (trap !== undefined && trap.kind !== "lose reply" && bytes.subarray(-5).equals(sync))
      spring(link, trap);
  }

  function answer(link: Link, bytes: Buffer): void {
    const { trap } = link;
    if (trap === undefined) {
      if (!link.isDead) send(link.client, bytes);
    } else if (isReadyForQuery(bytes)) {
      if (trap.kind === "lose reply") spring(link, trap);
      link.server.destroy();
    }
  }

  /** In the order in which it came, also when the delay is shortened on the way. */
  function send(socket: Socket, bytes: Buffer): void {
    const before = sending.get(socket);
    if (before === undefined && latencyMs === 0) {
      socket.write(bytes);
      return;
    }
    const sent = Promise.all([before, delay(latencyMs)]).then(() => {
      if (!socket.destroyed) socket.write(bytes);
      if (sending.get(socket) === sent) sending.delete(socket);
    });
    sending.set(socket, sent);
  }

  function spring(link: Link, trap: Trap): void {
    link.client.resetAndDestroy();
    trap.sprung(() => link.server.write(Buffer.concat(link.late)));
  }

  function end(link: Link, socket: Socket): void {
    // the server does not hear that a black-holed client is gone
    if (link.isDead && socket === link.client && !link.server.destroyed) return;
    links.delete(link);
    if (link.isDead) return;
    // a statement on its way is left to end by itself
    if (socket === link.server || link.trap === undefined) {
      link.client.destroy();
      link.server.destroy();
    }
  }

  const setTrap = (text: string, kind: Trap["kind"]) =>
    new Promise<() => void>((sprung) => traps.push({ text, kind, sprung }));

  const { port } = listener.address() as AddressInfo;
  const user = searchParams.get("user");
  return {
    connectionString: `postgresql://${user}@127.0.0.1:${port}${target.pathname}`,
    get connections() {
      return links.size;
    },
    cut() {
      for (const link of links) {
        link.client.resetAndDestroy();
        link.server.end();
      }
    },
    blackhole() {
      isBlackHole = true;
      for (const link of links) link.isDead = true;
    },
    heal() {
      isBlackHole = false;
      traps.length = 0;
    },
    bury() {
      for (const { isDead, server } of links) if (isDead) server.destroy();
    },
    slowDown(ms) {
      latencyMs = ms;
    },
    loseNextReply: async (text) => void (await setTrap(text, "lose reply")),
    cutAtNext: async (text) => void (await setTrap(text, "cut")),
    delayNext: (text) => setTrap(text, "delay"),
    async close() {
      listener.close();
      for (const { client, server } of links) {
        client.destroy();
        server.destroy();
      }
      await once(listener, "close");
    },
  };
}

/** The last message of every request. */
const sync = Buffer.from([0x53, 0, 0, 0, 4]);

/** The last message of every reply, and the first moment at which the statement is known to be committed. */
function isReadyForQuery(bytes: Buffer): boolean {
  return bytes.length >= 6 && bytes.readUInt32BE(bytes.length - 5) === 5 && bytes.at(-6) === 0x5a;
}
