// A receiver that means harm, by path. Raw sockets, because no HTTP server would say such things.
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";

export interface HostileServer {
  readonly url: string;
  /** Connections open now. */
  readonly connections: number;
  close(): Promise<void>;
}

type Behaviour = (socket: Socket) => void;

const ok = "HTTP/1.1 200 OK\r\n";
const empty = "content-length: 0\r\n\r\n";

export const behaviours = {
  ok: say(`${ok}${empty}`),
  silent: () => {},
  "header-drip": (socket) => drip(socket, ok, "x-a: b\r\n"),
  "body-drip": (socket) => drip(socket, `${ok}content-length: 1000000\r\n\r\n`, "."),
  "header-flood": pour(ok, "x-a: b\r\n"),
  // stays below the limit, and then holds on to what it costs
  "header-hoard": say(ok + "a:\r\n".repeat(8_000)),
  "informational-flood": pour("", "HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n"),
  "endless-body": pour(`${ok}\r\n`, "x".repeat(1_000)),
  "endless-chunks": pour(`${ok}transfer-encoding: chunked\r\n\r\n`, `3e8\r\n${"x".repeat(1_000)}\r\n`),
  bomb: say(
    Buffer.concat([
      Buffer.from(`${ok}content-encoding: gzip\r\nconnection: close\r\n\r\n`),
      gzipSync(Buffer.alloc(20_000_000)),
    ]),
  ),
  "reset-before": (socket) => socket.resetAndDestroy(),
  "reset-after": (socket) =>
    socket.write(`${ok}content-length: 9\r\n\r\nhalf`, () => setImmediate(() => socket.resetAndDestroy())),
  "two-lengths": say(`${ok}content-length: 2\r\ncontent-length: 5\r\n\r\nokoko`),
  "too-short": (socket) => socket.end(`${ok}content-length: 9\r\n\r\nhalf`),
  "no-http": say("SSH-2.0-OpenSSH_9.2\r\n"),
  upgrade: say("HTTP/1.1 101 X\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n"),
  "status-000": say(`HTTP/1.1 000 X\r\n${empty}`),
  "status-600": say(`HTTP/1.1 600 X\r\n${empty}`),
  "status-999": say(`HTTP/1.1 999 X\r\n${empty}`),
  redirect: say(`HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\n${empty}`),
  second: say(`${ok}${empty}${ok}${empty}`),
} satisfies Record<string, Behaviour>;

export type HostilePath = keyof typeof behaviours;

export async function startHostileServer(): Promise<HostileServer> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => {});
    socket.on("data", (chunk: Buffer) => {
      const [, path] = /^POST \/(\S*) /.exec(chunk.toString("latin1")) ?? [];
      if (path !== undefined) behaviours[path as HostilePath](socket);
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return sockets.size;
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function say(text: string | Buffer): Behaviour {
  return (socket) => void socket.write(text);
}

function drip(socket: Socket, start: string, drop: string): void {
  socket.write(start);
  const timer = setInterval(() => socket.write(drop), 10);
  socket.on("close", () => clearInterval(timer));
}

/** As fast as it is taken, for ever. */
function pour(start: string, again: string): Behaviour {
  const block = Buffer.from(again.repeat(Math.ceil(65_536 / again.length)));
  return (socket) => {
    const write = (): void => {
      while (!socket.destroyed && socket.write(block));
    };
    socket.write(start);
    socket.on("drain", write);
    write();
  };
}
