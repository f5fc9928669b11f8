// Ports on loopback.
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";

/** Listens, by default on any free port, and returns the port. */
export async function listen(server: Server, port = 0, host = "127.0.0.1"): Promise<number> {
  server.listen(port, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

const [firstPort, portCount] = [10_000, 22_768];
let nextPort = randomInt(portCount);

/**
 * Returns a free port below those that the system gives to outgoing connections: such a connection could get the port
 * before a program listens on it. No port is returned twice, because the first program may not listen yet.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const server = createServer();
    nextPort = (nextPort + 1) % portCount;
    try {
      const port = await listen(server, firstPort + nextPort);
      server.close();
      await once(server, "close");
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || attempt === 100) throw error;
    }
  }
}
