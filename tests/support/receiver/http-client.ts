// A plain client that can be as odd as senders are: in pieces, without a length, cut off, deaf until its last byte.
import {
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request as open,
} from "node:http";
import { connect } from "node:net";

export interface Sent {
  readonly method?: string;
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: Uint8Array | string;
}

export interface Received {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** On a connection of its own. */
export function send(url: string, { method = "POST", headers = {}, body }: Sent = {}): Promise<Received> {
  const sending = start(url, { method, headers });
  sending.request.end(body);
  return sending.answer;
}

/** For bodies in pieces: write to `request` and end it. Without a content-length that is a chunked transfer. */
export function start(url: string, { method = "POST", headers = {} }: Omit<Sent, "body"> = {}) {
  const request = open(url, { method, headers, agent: false });
  return { request, answer: responseTo(request) };
}

function responseTo(request: ClientRequest): Promise<Received> {
  return new Promise((resolve, reject) => {
    request.once("error", reject).once("response", async (response) => {
      const pieces: Buffer[] = [];
      try {
        for await (const piece of response) pieces.push(piece);
      } catch (error) {
        reject(error);
      }
      const { statusCode = 0, headers } = response;
      resolve({ status: statusCode, headers, body: Buffer.concat(pieces).toString() });
    });
  });
}

/**
 * Sends on whatever is answered meanwhile, until its last byte or until the server hangs up; what came back, as text.
 * `isDeaf`: looks at no answer before its last byte is out.
 */
export async function pour(url: string, bytes: number, { isDeaf = false } = {}): Promise<string> {
  const { hostname, port, pathname } = new URL(url);
  const socket = connect(Number(port), hostname);
  const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()).on("error", () => {}));
  let text = "";
  const answered = new Promise<void>((resolve) => {
    const listen = (piece: Buffer) => {
      text += piece.toString("latin1");
      if (text.includes("\r\n\r\n")) resolve();
    };
    socket.on("data", listen);
    if (isDeaf) socket.pause();
  });
  const head = `POST ${pathname} HTTP/1.1\r\nhost: ${hostname}\r\ncontent-type: text/plain`;
  socket.write(`${head}\r\ncontent-length: ${bytes}\r\n\r\n`);
  const block = Buffer.alloc(256 * 1024, "x");
  for (let left = bytes; left > 0 && socket.writable; left -= block.length) {
    const isRoomLeft = socket.write(block.subarray(0, Math.min(left, block.length)));
    if (!isRoomLeft) await Promise.race([new Promise((resolve) => socket.once("drain", resolve)), closed]);
  }
  socket.resume();
  await Promise.race([answered, closed]);
  socket.destroy();
  return text;
}
