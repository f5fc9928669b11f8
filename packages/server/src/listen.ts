// Opens the listener of a server, and explains why it cannot be opened.
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export class ListenError extends Error {
  override readonly name = "ListenError";
}

/**
 * Throws what `start` would throw, before the database is opened and keys are generated. Returns the port, or a free one
 * for 0.
 */
export async function checkPort(host: string, port: number): Promise<number> {
  const server = createServer();
  await listen(server, host, port);
  const { port: bound } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return bound;
}

export function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(explain(error, host, port)));
    server.listen(port, host, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}

function explain(error: Error, host: string, port: number): Error {
  const { code } = error as { code?: string };
  const messages: Readonly<Record<string, string | undefined>> = {
    EADDRINUSE: `Port ${port} on ${host} is in use. Stop the other process, or choose another port: PORT=${port + 1}.`,
    EACCES: `This user may not listen on port ${port}. Choose a port above 1023, such as PORT=8400.`,
    EADDRNOTAVAIL: `${host} is not an address of this machine. Set HOST to 127.0.0.1, or to 0.0.0.0 for all.`,
    ENOTFOUND: `The host name ${host} is not known. Set HOST to 127.0.0.1, or to 0.0.0.0 for all.`,
  };
  const message = messages[code ?? ""];
  return message === undefined ? error : new ListenError(message, { cause: error });
}
