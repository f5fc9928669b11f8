// A connection of a load generator with one request in flight.
import { once } from "node:events";
import { connect } from "node:net";

export interface LoadConnection {
  /** Resolves with the response. Rejects if it has another status than expected. */
  send(request: Uint8Array): Promise<void>;
  close(): void;
}

const endOfHead = "\r\n\r\n";

export async function openConnection(port: number, expectedStatus: number): Promise<LoadConnection> {
  const socket = connect({ host: "127.0.0.1", port, noDelay: true });
  await once(socket, "connect");
  let resolve: () => void = () => {};
  let reject: (error: Error) => void = () => {};
  // a response arrives in one or two chunks
  let text = "";
  socket.on("error", (error) => reject(error));
  socket.on("close", () => reject(new Error("The server closed a connection.")));
  socket.on("data", (chunk) => {
    text += chunk.toString("latin1");
    const head = text.indexOf(endOfHead);
    if (head === -1 || text.length < head + endOfHead.length + lengthIn(text)) return;
    const response = text;
    text = "";
    if (response.startsWith(`HTTP/1.1 ${expectedStatus} `)) resolve();
    else reject(new Error(`The server returned: ${response.slice(0, 1_000)}`));
  });
  return {
    send: (request) =>
      new Promise((done, failed) => {
        resolve = done;
        reject = failed;
        // a connection that was closed while idle reports it only here
        socket.write(request, (error) => error && failed(error));
      }),
    close: () => void socket.removeAllListeners("close").destroy(),
  };
}

function lengthIn(response: string): number {
  const [, length = "0"] = /content-length: (\d+)/i.exec(response) ?? [];
  return Number(length);
}
