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

/**
 * Returns a free port below those that the system gives to outgoing connections. Such a connection could otherwise get the
 * port before a program listens on it, and keep it.
 */
export async function freePort(): Promise<number> {
  for (let attempt = 1; ; attempt += 1) {
    const server = createServer();
    try {
      const port = await listen(server, randomInt(10_000, 32_768));
      server.close();
      await once(server, "close");
      return port;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE" || attempt === 100) throw error;
    }
  }
}
