// An application that shows the portal in a frame, on its own origin, over http or https; and a TLS proxy for the server.
import { readFileSync } from "node:fs";
import { createServer as createHttpServer, type RequestListener, request, type Server } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";

const certificate = (name: string): Buffer =>
  readFileSync(new URL(`certificates/${name}.pem`, import.meta.url));

/** Not trusted; pages are opened with `ignoreHTTPSErrors`. */
const tls = { key: certificate("key"), cert: certificate("valid") };

export interface HostPage {
  /** `https://localhost:4711`, without a slash. */
  readonly origin: string;
  /** The ids of the links that the page requested. */
  readonly links: string[];
}

/** `makeLink` is called on `POST /portal-link`, as in the example. */
export async function startHostPage(options: {
  readonly scheme: "http" | "https";
  readonly hostname: string;
  readonly html: string;
  readonly makeLink: () => Promise<{ readonly id: string; readonly url: string }>;
}): Promise<HostPage> {
  const links: string[] = [];
  const port = await listen(options.scheme, async ({ method }, response) => {
    if (method !== "POST") {
      response.writeHead(200, { "content-type": "text/html; charset=utf-8" }).end(options.html);
      return;
    }
    const { id, url } = await options.makeLink();
    links.push(id);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ url }));
  });
  return { origin: `${options.scheme}://${options.hostname}:${port}`, links };
}

/** Starts before its server, which needs to know its public URL. */
export async function startTlsProxy(): Promise<{ readonly url: string; leadTo(server: string): void }> {
  let target: URL | null = null;
  const port = await listen("https", (incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    const onwards = request({ host: "127.0.0.1", port: target?.port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onwards.on("error", () => outgoing.destroy());
    outgoing.on("close", () => onwards.destroy());
    incoming.pipe(onwards);
  });
  return {
    url: `https://127.0.0.1:${port}`,
    leadTo: (server) => {
      target = new URL(server);
    },
  };
}

async function listen(scheme: "http" | "https", listener: RequestListener): Promise<number> {
  const server: Server = scheme === "http" ? createHttpServer(listener) : createHttpsServer(tls, listener);
  // localhost may resolve to ::1
  await new Promise<void>((resolve) => server.listen(0, "localhost", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => void server.close(() => resolve()));
  });
  return (server.address() as AddressInfo).port;
}
