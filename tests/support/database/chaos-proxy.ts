// A proxy between a pg client and its server that injects faults on command: reset connections, late or lost bytes,
// and statements that are executed but whose reply is lost.
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
// biome-ignore lint/plugin: the latency of a simulated network
import { setTimeout as delay } from "node:timers/promises";

export type ChaosProxy = Awaited<ReturnType<typeof startChaosProxy>>;

interface Trap {
  readonly text: string;
  readonly kind: "lose reply" | "cut" | "delay";
  /** Called with the function that sends a delayed statement. */
  readonly sprung: (deliver: () => void) => void;
}

interface Link {
  readonly client: Socket;
  readonly server: Socket;
  isDead: boolean;
  trap: Trap | undefined;
  /** The messages of a delayed statement. */
  readonly late: Buffer[];
}

export async function startChaosProxy(connectionString: string) {
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

  /** In the order of arrival, even if the delay is shortened meanwhile. */
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
    // the server does not notice that a black-holed client is gone
    if (link.isDead && socket === link.client && !link.server.destroyed) return;
    links.delete(link);
    if (link.isDead) return;
    // a statement that was sent is not interrupted
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
    /** A URL of the database through the proxy. */
    connectionString: `postgresql://${user}@127.0.0.1:${port}${target.pathname}`,
    /** Connections open through it. */
    get connections(): number {
      return links.size;
    },
    /** Resets every connection. The server still executes what it has received. */
    cut(): void {
      for (const link of links) {
        link.client.resetAndDestroy();
        link.server.end();
      }
    },
    /** Silently drops everything in both directions from now on. New connections get no response either. */
    blackhole(): void {
      isBlackHole = true;
      for (const link of links) link.isDead = true;
    },
    /**
     * New connections work again; those that were black-holed stay dead, as after a firewall lost their state. Replies
     * that have not been lost yet will not be.
     */
    heal(): void {
      isBlackHole = false;
      traps.length = 0;
    },
    /** Closes black-holed connections at the server, as its keepalive would do eventually. */
    endBlackHoled(): void {
      for (const { isDead, server } of links) if (isDead) server.destroy();
    },
    /** Delays everything by this much from now on, in both directions. 0 ends it. */
    slowDown(ms: number): void {
      latencyMs = ms;
    },
    /** Resolves when the next statement that contains the text was executed and its reply dropped. */
    loseNextReply: async (text: string): Promise<void> => void (await setTrap(text, "lose reply")),
    /** As above, but the client's connection is reset as soon as the statement was sent: it may still be waiting. */
    cutAtNext: async (text: string): Promise<void> => void (await setTrap(text, "cut")),
    /** As above, and the statement is late: it reaches the server only when the returned function is called. */
    delayNext: (text: string) => setTrap(text, "delay"),
    async close(): Promise<void> {
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
