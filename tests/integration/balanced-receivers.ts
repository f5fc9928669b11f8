// Processes of faulty-receiver.ts behind one load balancer. A killed process is replaced at once. The balancer records
// every request and its response, and loses responses on request: the receiver has done its work, and the sender's
// connection is reset.
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { bundleProgram } from "../support/processes/bundle-program.ts";
import { type Received, send, serve } from "../support/servers/http.ts";
import type { ReceiverSettings } from "./faulty-receiver.ts";

const program = await bundleProgram(new URL("./faulty-receiver.ts", import.meta.url));

interface Passage {
  /** The id of the event. */
  readonly id: string;
  /** The user agent. */
  readonly sender: string;
  /** The status of the response; null before it, or if the receiver was killed. */
  readonly status: number | null;
  readonly isDuplicate: boolean;
}

export async function startBalancer() {
  /** The running receivers and their ports. */
  const receivers = new Map<ChildProcess, number | null>();
  const passages: Passage[] = [];
  let turns = 0;
  let isClosed = false;
  let failure: Error | undefined;
  const { url, close } = await serve((request, response) => void pass(request, response));

  const balancer = {
    url,
    /** Every request, in the order of the responses. */
    passages: passages as readonly Passage[],
    /** Returns whether a response is discarded. */
    loses: (_passage: Passage): boolean => false,
    async startReceivers(count: number, settings: ReceiverSettings): Promise<void> {
      await Promise.all(Array.from({ length: count }, () => raise(settings)));
    },
    async close(): Promise<void> {
      isClosed = true;
      await close();
      for (const child of receivers.keys()) {
        child.kill("SIGKILL");
        await once(child, "exit");
      }
      if (failure !== undefined) throw failure;
    },
  };
  return balancer;

  async function raise(settings: ReceiverSettings): Promise<void> {
    const child = fork(program, [JSON.stringify(settings)], { execArgv: [] });
    receivers.set(child, null);
    child.once("exit", (code) => {
      receivers.delete(child);
      if (isClosed) return;
      if (code === null) void raise(settings);
      else failure = new Error(`A receiver exited with ${code}.`);
    });
    const [port] = (await Promise.race([once(child, "message"), once(child, "exit")])) as [number];
    if (receivers.has(child)) receivers.set(child, port);
  }

  async function pass(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.on("error", () => {});
    const answer = await forward(request).catch(() => null);
    const passage = {
      id: String(request.headers["webhook-id"]),
      sender: String(request.headers["user-agent"]),
      status: answer?.status ?? null,
      isDuplicate: answer?.headers["posthorn-duplicate"] === "true",
    };
    passages.push(passage);
    // another delivery of an event whose handler still runs: a slow handler may continue
    if (passage.status === 409) for (const child of receivers.keys()) child.send(passage.id, () => {});
    if (answer === null || balancer.loses(passage)) request.socket.destroy();
    else response.writeHead(answer.status, answer.headers).end(answer.body);
  }

  /** The receiver continues if the sender disconnects, as behind most load balancers. */
  async function forward(request: IncomingMessage): Promise<Received> {
    const body = Buffer.concat(await request.toArray());
    const ports = [...receivers.values()].filter((port) => port !== null);
    turns += 1;
    const port = ports[turns % ports.length];
    return await send(`http://127.0.0.1:${port}${request.url}`, { headers: request.headers, body });
  }
}
