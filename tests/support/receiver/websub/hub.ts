// A hub on loopback that does what it is told, also what no hub should: it has pages with topics, takes requests, and asks and
// tells callbacks only when a test says so.
import { createHmac, randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

export interface Page {
  readonly status?: number;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: string;
}

/** What a hub was asked for. */
export type Asked = Readonly<Record<"mode" | "topic" | "callback" | "path", string>> & {
  readonly secret: string | null;
  readonly leaseSeconds: string | null;
};

export interface Heard {
  readonly status: number;
  readonly body: string;
  readonly headers: Headers;
}

export interface TestHub extends AsyncDisposable {
  readonly url: string;
  /** All requests, the newest last. */
  readonly asked: readonly Asked[];
  readonly last: Asked;
  page(path: string, page: Page | (() => Promise<Page>)): string;
  /** What a request to a path of the hub is answered with from now on; 202 unless said otherwise. */
  answers(path: string, page: Page | ((asked: Asked) => Promise<Page>)): void;
  /** Asks a callback whether it meant it; `query` wins over what a good hub sends. */
  verify(
    asked: Asked,
    query?: Readonly<Record<string, string | null>>,
  ): Promise<Heard & { challenge: string }>;
  distribute(asked: Asked, body: string | Buffer, options?: Distribution): Promise<Heard>;
}

export interface Distribution {
  readonly method?: "sha1" | "sha256" | "sha384" | "sha512";
  readonly contentType?: string;
  /** In place of the right one; null: none. */
  readonly signature?: string | null;
  readonly headers?: Record<string, string>;
}

export async function startTestHub(): Promise<TestHub> {
  const pages = new Map<string, Page | (() => Promise<Page>)>();
  const answers = new Map<string, Page | ((asked: Asked) => Promise<Page>)>();
  const asked: Asked[] = [];

  const answer = async (request: IncomingMessage): Promise<Page> => {
    const path = request.url ?? "/";
    if (request.method !== "POST") {
      const page = pages.get(path) ?? { status: 404 };
      return typeof page === "function" ? page() : page;
    }
    const form = new URLSearchParams(await text(request));
    const field = (name: string) => form.get(`hub.${name}`);
    const one: Asked = {
      path,
      mode: field("mode") ?? "",
      topic: field("topic") ?? "",
      callback: field("callback") ?? "",
      secret: field("secret"),
      leaseSeconds: field("lease_seconds"),
    };
    asked.push(one);
    const given = answers.get(path) ?? { status: 202 };
    return typeof given === "function" ? given(one) : given;
  };
  const serve = async (request: IncomingMessage, response: ServerResponse) => {
    const { status = 200, headers = {}, body = "" } = await answer(request);
    response.writeHead(status, headers).end(body);
  };
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  return {
    url,
    asked,
    get last() {
      return asked.at(-1) as Asked;
    },
    page(path, page) {
      pages.set(path, page);
      return `${url}${path}`;
    },
    answers: (path, given) => void answers.set(path, given),
    async verify({ callback, mode, topic }, changes = {}) {
      const challenge = `${randomUUID()}&<b>+ %`;
      const query = new URLSearchParams();
      const good = { mode, topic, challenge, lease_seconds: mode === "subscribe" ? "864000" : null };
      for (const [name, value] of Object.entries({ ...good, ...changes })) {
        if (value !== null) query.set(`hub.${name}`, value);
      }
      return { ...(await heard(await fetch(`${callback}?${query}`))), challenge };
    },
    async distribute({ callback, secret }, body, options = {}) {
      const { method = "sha256", contentType = "application/atom+xml", headers } = options;
      const right = `${method}=${createHmac(method, secret ?? "")
        .update(body)
        .digest("hex")}`;
      const signature = options.signature === undefined ? right : options.signature;
      const sent = {
        "content-type": contentType,
        ...(signature !== null && { "x-hub-signature": signature }),
        ...headers,
      };
      return heard(
        await fetch(callback, { method: "POST", body: new Uint8Array(Buffer.from(body)), headers: sent }),
      );
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function heard(response: Response): Promise<Heard> {
  return { status: response.status, headers: response.headers, body: await response.text() };
}
