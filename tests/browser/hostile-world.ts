// A server with hostile input everywhere: names, descriptions, payloads, responses, headers. It has deliveries in every
// state, so that each screen has content.
import { startScriptedReceiver } from "posthorn/testing";
import { expect } from "vitest";
import { eventuallyPasses } from "../support/eventually.ts";
import { startServer, type TestServer } from "../support/servers/start-server.ts";
import { HOSTILE_TEXTS } from "./hostile-texts.ts";

/** Redacted by the catalogue: never shown to a session that may not read payloads. */
const REDACTED = "card-4242-must-not-be-seen";

export interface HostileWorld {
  readonly server: TestServer;
  readonly ids: Readonly<Record<"event" | "delivery" | "endpoint" | "replay", string>>;
}

type AtEnd = (stop: () => Promise<void> | void) => void;

export async function startHostileWorld(atEnd: AtEnd): Promise<HostileWorld> {
  const receiver = await startScriptedReceiver();
  atEnd(() => receiver.close());
  const headers = { "content-type": "text/html", "x-hostile": "<x-canary>" };
  const body = HOSTILE_TEXTS.slice(0, 70).join("\n");
  receiver.answer("/refuses", { status: 404, headers, body });
  for (const path of ["/fails", "/filtered"]) receiver.answer(path, { status: 503, headers, body });
  const server = await startServer({ atEnd });
  await server.call("PUT", "/api/v1/tenants/acme", { name: HOSTILE_TEXTS[3], websub_topics: ["order.*"] });
  await Promise.all(HOSTILE_TEXTS.map((text, index) => nameThings(server, text, index)));
  for (let at = 0; at < HOSTILE_TEXTS.length; at += 9) await describeType(server, at);
  await server.call("PUT", "/api/v1/event-types/order.paid", {
    description: HOSTILE_TEXTS[1],
    schema: { type: "object", description: HOSTILE_TEXTS[2] },
    example: { [HOSTILE_TEXTS[0] ?? ""]: HOSTILE_TEXTS[1] },
    redact: ["/card"],
  });
  const [endpoint] = await makeEndpoints(server, receiver.url);
  const { event, delivery } = await publish(server);
  const { json: replay } = await server.call("POST", "/api/v1/replays", {
    tenant: "acme",
    endpoint,
    type: "order.paid",
    rate: 1,
  });
  expect(replay.id).toMatch(/^rpl_/);
  await server.call("PUT", "/api/v1/tenants/acme/members/user-17", { role: "admin" });
  return {
    server,
    ids: { event, delivery, endpoint: endpoint as string, replay: replay.id },
  };
}

/** Creates a named resource for each hostile text. */
async function nameThings(server: TestServer, text: string, index: number): Promise<void> {
  const agent = { "user-agent": text.replaceAll(/[^\x20-\x7e]/g, "?").slice(0, 1_000) };
  const answers = [
    await server.call("PUT", `/api/v1/tenants/t${index}`, { name: text.slice(0, 200) }, agent),
    await server.call(
      "POST",
      "/api/v1/keys",
      { name: text.slice(0, 200), scopes: ["events:publish"] },
      agent,
    ),
  ];
  // a text may be rejected with an error; any other failure is a bug
  for (const { status } of answers)
    expect([index, [200, 201, 422, 400].includes(status)]).toEqual([index, true]);
}

/** Nine texts per event type, because the settings of every endpoint list all types. */
async function describeType(server: TestServer, at: number): Promise<void> {
  const texts = HOSTILE_TEXTS.slice(at, at + 9).map(storable);
  const { status } = await server.call("PUT", `/api/v1/event-types/hostile.t${at}`, {
    description: texts.join(" ").slice(0, 2_000),
    schema: { title: texts.join(" ") },
    example: Object.fromEntries(texts.map((text) => [text, text])),
  });
  expect(status).toBe(200);
}

/** Three endpoints of acme: one rejects, one fails and is retried, one has a filter and has not consented. */
async function makeEndpoints(server: TestServer, url: string): Promise<string[]> {
  const settings = [
    {
      url: `${url}/refuses?q=${encodeURIComponent(HOSTILE_TEXTS.slice(0, 6).join(""))}`,
      signature: { schemes: ["t-v1", "standard-webhooks", "twitch"] },
      scheme_secrets: { twitch: "<x-canary>" },
      authorization: { type: "bearer", token: "never-shown" },
    },
    { url: `${url}/fails?"><x-canary>` },
    {
      url: `${url}/filtered`,
      filter: { data: { text: HOSTILE_TEXTS[3] } },
      format: "cloudevents-batch",
      handshake: { origin: "hooks.example.com", rate: 60 },
    },
  ];
  const description = HOSTILE_TEXTS.slice(0, 9).join(" ").slice(0, 500);
  const shared = { description, headers: { "X-Hostile": HOSTILE_TEXTS[3] } };
  const made = await Promise.all(settings.map((own) => server.newEndpoint({ ...shared, ...own }, "acme")));
  return made.map(({ id }) => id);
}

/** PostgreSQL stores neither NUL nor unpaired surrogates; both are rejected. */
function storable(text: string): string {
  return text.replaceAll("\u0000", "").replaceAll(/\p{Cs}/gu, "");
}

/** Publishes an event with all texts, which is rejected for good, and then one with each. */
async function publish(server: TestServer): Promise<{ event: string; delivery: string }> {
  const texts = HOSTILE_TEXTS.map(storable);
  const events = texts.map((text) => ({
    tenant: "acme",
    type: "order.paid",
    subject: text.replaceAll(/\p{Cc}/gu, "").slice(0, 200),
    data: { card: REDACTED, [text]: text },
  }));
  const { json: first } = await server.call("POST", "/api/v1/events", {
    tenant: "acme",
    type: "order.paid",
    subject: "all",
    data: { card: REDACTED, ...Object.fromEntries(texts.map((text) => [text, text])) },
  });
  const delivery = await eventuallyPasses(async () => {
    const { json } = await server.call("GET", "/api/v1/deliveries?state=dead");
    expect(json.data).toHaveLength(1);
    return json.data[0].id as string;
  });
  const { status, text } = await server.call("POST", "/api/v1/events", events);
  expect([status, text]).toEqual([202, expect.any(String)]);
  return { event: first.id, delivery };
}
