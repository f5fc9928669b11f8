// Ports on loopback.
import { once } from "node:events";
import { type AddressInfo, createServer, type Server } from "node:net";

/** Listens, by default on any free port, and returns the port. */
export async function listen(server: Server, port = 0, host = "127.0.0.1"): Promise<number> {
  server.listen(port, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

export async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listen(server);
  server.close();
  await once(server, "close");
  return port;
}
