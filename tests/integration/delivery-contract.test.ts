// Compares the delivery contract with what is sent and done, statement by statement, under the settings of four systems
// that send webhooks.
import type { DeliveryContract } from "@posthorn/client";
import { schemeNamed, verify } from "@posthorn/wire";
import type { PosthornOptions } from "posthorn";
import type { ReceivedRequest, TestInstance } from "posthorn/testing";
import { expect, test } from "vitest";
import {
  databasePerTest,
  newEndpoint,
  receiverPerFile,
  settleAfter,
} from "../support/database/database-per-test.ts";
import { eventually } from "../support/eventually.ts";
import { startServer } from "../support/servers/start-server.ts";

const receiver = await receiverPerFile();
const world = databasePerTest({ maxEndpointsPerTenant: 1_000, circuitFailures: 0, disableAfterFailures: 0 });

const SYSTEMS: Readonly<Record<string, Partial<PosthornOptions>>> = {
  "a framework with its own prefix that retries everything": {
    headerPrefix: "X-OrientedOS",
    signatureSchemes: ["sha256"],
    userAgent: "OrientedOS-Webhooks/1.0",
    format: "data",
    retryOn: "every",
    timeoutMs: 1_300,
    retryPolicy: "five-attempts",
  },
  "a metrics service with time and signature in two headers": {
    headerPrefix: "X-SESMetric",
    signatureSchemes: ["two-headers"],
    retryPolicy: "2m,10m,30m",
    timeoutMs: 1_000,
  },
  "a starter kit with subscriptions": {
    headerPrefix: "X-SpeedPy",
    signatureSchemes: ["t-v1"],
    retryPolicy: "short",
    retryOn: "every",
    timeoutMs: 1_200,
  },
  "a sender at scale": { retryPolicy: "exponential", userAgent: "Acme-Webhooks/1.0", timeoutMs: 1_100 },
};

async function start(options: Partial<PosthornOptions>) {
  const instance = await world.open(options);
  const server = await startServer({ hooks: instance.hooks });
  const contract = (await server.call("GET", "/api/v1/contract")).json as DeliveryContract;
  return { instance, server, contract };
}

async function publish(instance: TestInstance): Promise<string> {
  const { id } = await instance.hooks.publish({ tenant: "acme", type: "order.paid", data: { order: 17 } });
  return id;
}

const ofConnection = ["host", "connection", "content-length"];

test.each(Object.entries(SYSTEMS))("the requests of %s are as its contract says", async (_, options) => {
  // so that the first attempt arrives however busy the machine is
  const { instance, contract } = await start({ ...options, timeoutMs: 30_000 });
  const { path, secret } = await newEndpoint(instance, receiver);
  const id = await publish(instance);
  const [sent] = (await receiver.received(1, { path })) as [ReceivedRequest];
  const { headers, method, body } = sent;
  const { request, signatures, duplicates } = contract;
  expect(method).toBe(request.method);
  const named = request.headers.filter(({ is_always_sent }) => is_always_sent);
  expect(named.map(({ name }) => name.toLowerCase()).toSorted()).toEqual(
    Object.keys(headers)
      .filter((name) => !ofConnection.includes(name))
      .toSorted(),
  );
  const headerOf = (meaning: string) => {
    const header = named.find((one) => one.meaning === meaning);
    return { sent: headers[header?.name.toLowerCase() ?? ""], example: header?.example };
  };
  expect(headerOf("user_agent").sent).toBe(headerOf("user_agent").example);
  expect(headerOf("content_type").sent).toBe(request.content_type);
  expect(headerOf("event_type").sent).toBe("order.paid");
  expect(headerOf("attempt").sent).toBe("1");
  expect(headerOf("timestamp").sent).toMatch(/^\d{10}$/);
  expect(headers[duplicates.id_header?.toLowerCase() ?? ""]).toBe(id);
  const parsed = JSON.parse(body.toString());
  expect(Object.keys(parsed)).toEqual(
    options.format === "data"
      ? ["order"]
      : Object.keys(JSON.parse(request.body)).filter((name) => !["subject", "sequence"].includes(name)),
  );
  if (duplicates.id_in_body !== null) expect(parsed[duplicates.id_in_body]).toBe(id);
  expect(signatures.map(({ scheme }) => scheme)).toEqual(
    options.signatureSchemes ?? ["t-v1", "standard-webhooks"],
  );
  for (const { scheme, facts } of signatures) {
    const { headerPrefix } = options;
    const input = { scheme, headers, body, secrets: [secret], ...(headerPrefix && { headerPrefix }) };
    expect(await verify(input)).toMatchObject({ ok: true });
    expect(headers[facts?.signature_header.toLowerCase() ?? ""]).toContain(facts?.signature_prefix);
    expect(facts?.tolerance_seconds).toBe(scheme === "sha256" ? null : 300);
    expect(facts?.algorithm).toBe(schemeNamed(scheme).algorithm);
  }
});

test.each(Object.entries(SYSTEMS))(
  "a receiver of %s that does not respond is given up and retried as its contract says",
  async (_, options) => {
    const { instance, contract } = await start(options);
    const { path, id: endpoint } = await newEndpoint(instance, receiver);
    receiver.answer(path, "hang");
    const event = await publish(instance);
    await receiver.received(1, { path });
    await instance.settle();
    const { timeout_ms } = contract.request;
    expect(timeout_ms).toBe(options.timeoutMs);
    const { waits, max_attempts } = contract.retries;
    expect(waits).toHaveLength(max_attempts - 1);
    receiver.answer(path, 500);
    const [delivery] = (await instance.hooks.events.get(event)).deliveries;
    const id = delivery?.id as string;
    // short waits pass in real time too, so only the recorded attempts are compared
    for (const { max_ms } of waits) await settleAfter(instance, max_ms + 1_000);
    const { state, deadReason, attemptCount, attempts } = await instance.hooks.deliveries.get(id);
    for (const [index, { min_ms, max_ms }] of waits.entries()) {
      const { startedAt, durationMs, nextRetryAt, error } = attempts[index] as (typeof attempts)[0];
      if (index === 0) expect([error, (durationMs ?? 0) >= timeout_ms - 1]).toEqual(["timeout", true]);
      const endedMs = (startedAt?.getTime() ?? 0) + (durationMs ?? 0);
      const waitMs = (nextRetryAt?.getTime() ?? 0) - endedMs;
      expect(waitMs).toBeGreaterThanOrEqual(min_ms - 20);
      // beyond the wait, the time until the attempt is settled
      expect(waitMs).toBeLessThanOrEqual(max_ms + 20_000);
    }
    expect([state, deadReason, attemptCount]).toEqual(["dead", "attempts_exhausted", max_attempts]);
    expect(receiver.requestsTo(path)).toHaveLength(max_attempts);
    expect(contract.errors.find(({ errors }) => errors.includes("timeout"))?.result).toBe("retried");
    expect((await instance.hooks.endpoints.get("acme", endpoint)).isActive).toBe(true);
  },
);

test.each(Object.entries(SYSTEMS))(
  "every response to %s has the effect that its contract says",
  async (_, options) => {
    // no second attempt while the first ones are examined, and none that ends before its response
    const { instance, contract } = await start({ ...options, retryPolicy: "1h", timeoutMs: 30_000 });
    const cases = contract.responses.flatMap((row) =>
      [...new Set(row.statuses.flatMap(({ from, to }) => [from, to]))].map((status) => ({ status, ...row })),
    );
    const needsHeader = cases.filter(({ retry_after }) => retry_after === "required");
    expect(needsHeader.map(({ status }) => status)).toEqual([409]);
    const endpoints: ((typeof cases)[0] & { path: string; id: string })[] = [];
    for (const one of cases) {
      const endpoint = await newEndpoint(instance, receiver, { events: ["order.paid"] });
      const isWithout = one.status === 409 && one.retry_after !== "required";
      const headers: Record<string, string> = isWithout ? {} : { "retry-after": "7200" };
      receiver.answer(endpoint.path, { status: one.status, headers });
      endpoints.push({ ...one, ...endpoint });
    }
    await publish(instance);
    await eventually("every endpoint was asked", async () =>
      endpoints.every(({ path }) => receiver.requestsTo(path).length > 0),
    );
    await instance.settle();
    for (const { id, status, result, retry_after, pauses_endpoint } of endpoints) {
      const [delivery] = (await instance.hooks.deliveries.list({ endpoint: id })).data;
      const { isActive, health } = await instance.hooks.endpoints.get("acme", id);
      const untilMs = delivery?.nextRetryAt?.getTime() ?? 0;
      const effect = {
        status,
        state: delivery?.state,
        isActive,
        failures: health.consecutiveFailures,
        isDelayed: untilMs > Date.now() + 7_000_000,
        isPaused: health.throttledUntil !== null,
      };
      const isRetried = result === "retried" || result === "postponed";
      expect(effect).toEqual({
        status,
        state: result === "delivered" ? "success" : isRetried ? "failed" : "dead",
        isActive: result !== "disabled",
        // a 429 is a throttle, which does not count
        failures: ["delivered", "postponed"].includes(result) || status === 429 ? 0 : 1,
        isDelayed: isRetried && retry_after !== "ignored",
        isPaused: pauses_endpoint,
      });
    }
  },
);

test("an endpoint's contract has its own settings, and an unusual one is refused with a reason", async () => {
  const { server } = await start({});
  const { path } = await server.newEndpoint(
    {
      timeout_ms: 4_000,
      format: "thin",
      ordering: "fifo",
      fifo_on_dead: "hold",
      rate_limit: 7,
      headers: { "X-Team": "billing" },
      envelope_fields: { id: "event_id" },
      authorization: { type: "bearer", token: "s3cret" },
      signature: { schemes: ["github", "rfc9421"], header_prefix: "X-Own" },
      retry_policy: { gaps: ["1m"], max_age: "90s" },
    },
    "acme",
  );
  const { json, text } = await server.call("GET", `${path}/contract`);
  expect(json).toMatchObject({
    request: { timeout_ms: 4_000, format: "thin", follows_redirects: false },
    retries: { max_attempts: 2, max_age_ms: 90_000, waits: [{ min_ms: 54_000, max_ms: 66_000 }] },
    ordering: { mode: "fifo", on_dead: "hold" },
    pace: { rate_limit: 7 },
    duplicates: { id_header: "X-Own-Id", id_in_body: "event_id", retried_for_ms: 66_000 },
    signatures: [
      { scheme: "github", facts: { signature_header: "X-Hub-Signature-256" } },
      { scheme: "rfc9421", facts: null },
    ],
  });
  const headers = new Map<string, object>(
    json.request.headers.map((one: { name: string }) => [one.name, one]),
  );
  expect(headers.get("X-Team")).toMatchObject({ meaning: "custom", example: null });
  expect(headers.get("Authorization")).toMatchObject({ meaning: "authorization", example: null });
  expect(headers.get("Signature")).toMatchObject({ meaning: "signature" });
  expect(headers.get("Signature-Input")).toMatchObject({ meaning: "signature_input" });
  expect(headers.get("Content-Digest")).toMatchObject({ meaning: "body_digest" });
  expect(text).not.toMatch(/billing|s3cret/);
  for (const [query, problem] of [
    ["scheme=md5", 'There is no signature scheme "md5"'],
    ["header_prefix=a%20b", "A header prefix has letters"],
    ["schema=t-v1", "schema"],
  ] as const) {
    const refused = await server.call("GET", `/api/v1/contract?${query}`);
    expect([refused.status, refused.text]).toEqual([
      422,
      expect.stringContaining(problem.replaceAll('"', '\\"')),
    ]);
  }
  const shown = await server.call("GET", "/api/v1/contract?scheme=svix&header_prefix=X-Shop");
  expect(shown.json.signatures[0].facts).toMatchObject({
    signature_header: "svix-signature",
    signed: ["{id}", ".", "{timestamp}", ".", "{body}"],
  });
});
