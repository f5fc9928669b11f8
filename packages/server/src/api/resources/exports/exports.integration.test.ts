// Exports over HTTP and on the command line: content, filters, permissions, and endings that are not one.
import { contract } from "@posthorn/client";
import { unaudited } from "posthorn/internal";
import { expect, test, vi } from "vitest";
import { useCommandServer } from "../../../../../../tests/support/servers/run-command.ts";
import { startReceiver } from "../../../../../../tests/support/servers/start-receiver.ts";

const { server, posthorn } = useCommandServer();

/** A tenant with two delivered events and one dead letter. */
async function withEvents() {
  const receiver = await startReceiver();
  receiver.answer("/in", [200, 200, 400]);
  const { tenant, id: endpoint } = await server.newEndpoint({ url: `${receiver.url}/in` });
  const ids: string[] = [];
  for (const data of [{ card: "4111" }, { note: "=1+1" }, [1.5]]) {
    const body = { tenant, type: "order.paid", subject: "=order", data };
    ids.push((await server.call("POST", "/api/v1/events", body)).json.id);
    await receiver.received(ids.length);
  }
  const states = async () => (await rowsOf(`deliveries?tenant=${tenant}`)).map(({ state }) => state);
  await expect.poll(states).toEqual(["dead", "success", "success"]);
  return { tenant, endpoint, ids };
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into whatever came
async function rowsOf(path: string, headers?: Record<string, string>): Promise<any[]> {
  const { status, text, json } = await server.call("GET", `/api/v1/export/${path}`, undefined, headers);
  if (status !== 200) throw new Error(text);
  return json.data;
}

test("each export has the rows of its list, newest first, and takes its filters", async () => {
  const { tenant, endpoint, ids } = await withEvents();
  const of = `tenant=${tenant}`;
  const listed = async (path: string) => (await server.call("GET", `/api/v1/${path}`)).json.data;
  const listedEvents = (await listed(`events?${of}`)).map(
    ({ outcome: _, ...event }: object & { outcome: unknown }) => event,
  );
  expect(await rowsOf(`events?${of}`)).toEqual(listedEvents);
  expect((await rowsOf(`events?${of}`)).map(({ id }) => id)).toEqual(ids.toReversed());
  expect(await rowsOf(`deliveries?${of}`)).toEqual(await listed(`deliveries?${of}`));
  expect(await rowsOf(`deliveries?${of}&state=success`)).toHaveLength(2);
  const dead = await rowsOf(`dead-letters?${of}&reason=rejected`);
  expect(dead).toEqual(await listed(`deliveries?${of}&state=dead`));
  const attempts = await rowsOf(`attempts?${of}&endpoint=${endpoint}&type=order.paid`);
  const own = await listed(`tenants/${tenant}/endpoints/${endpoint}/attempts`);
  const added = { tenant, endpoint_id: endpoint, event_type: "order.paid" };
  expect(attempts).toEqual(own.map((attempt: object) => ({ ...attempt, ...added })));
  expect(attempts).toHaveLength(3);
  expect(await rowsOf(`audit-log?${of}`)).toEqual(await listed(`audit-log?${of}`));
  for (const name of ["events", "deliveries", "attempts", "dead-letters"])
    expect(await rowsOf(`${name}?${of}&created_after=2100-01-01`)).toEqual([]);
});

test("CSV is a file with a header, and text that could be a formula is escaped", async () => {
  const { tenant, ids } = await withEvents();
  const path = `/api/v1/export/events?tenant=${tenant}&format=csv`;
  const { headers, text } = await server.call("GET", path);
  expect(headers.get("content-type")).toBe("text/csv; charset=utf-8; header=present");
  expect(headers.get("content-disposition")).toBe('attachment; filename="events.csv"');
  const [head, newest, ...rest] = text.split("\r\n");
  const fields = Object.keys(contract.exports.events.response.schema.shape);
  for (const name of fields) expect(head).toMatch(new RegExp(`"${name}(?:_\\w+)?"`));
  expect(newest).toMatch(
    new RegExp(`^"${ids[2]}","${tenant}","order.paid","1","'=order",3,"\\[1.5\\]","20[^"]*Z",`),
  );
  expect(rest).toHaveLength(3);
});

test("CSV has what a delivery waits for in columns of their own", async () => {
  const { tenant, id } = await server.newEndpoint({ url: "http://127.0.0.1:1024/in" });
  const body = { tenant, type: "order.paid", data: 1 };
  await server.call("POST", "/api/v1/events", body);
  const read = async () => {
    const { text } = await server.call("GET", `/api/v1/export/deliveries?endpoint=${id}&format=csv`);
    const [head = [], row = []] = text.split("\r\n").map((line: string) => line.split(","));
    return Object.fromEntries(head.map((name: string, at: number) => [JSON.parse(name), row[at]]));
  };
  await expect.poll(async () => (await read()).state).toBe('"failed"');
  const delivery = await read();
  expect(delivery).toMatchObject({ waits_for_reason: '"retry_delay"', waits_for_blocked_by: "" });
  expect(delivery.waits_for_until).toBe(delivery.next_retry_at);
  expect(delivery.waits_for_until).toMatch(/^"20.*Z"$/);
  expect(delivery.waits_for_remedy).toMatch(/^"\w/);
});

test("a key exports its tenant's rows only, with the redaction of the list", async () => {
  const { tenant } = await withEvents();
  const { tenant: other } = await withEvents();
  const name = "order.paid";
  await server.hooks.eventTypes.put(name, { redact: ["/card"] });
  const reading = await server.keyHeaders(["deliveries:read"], tenant);
  const rows = await rowsOf("events", reading);
  expect(rows.map((row) => row.tenant)).toEqual([tenant, tenant, tenant]);
  expect(rows.map(({ data }) => data)).toContainEqual({ card: "[redacted]" });
  const trusted = await server.keyHeaders(["deliveries:read", "payloads:read"], tenant);
  expect((await rowsOf("events", trusted)).map(({ data }) => data)).toContainEqual({ card: "4111" });
  const status = async (path: string) =>
    (await server.call("GET", `/api/v1/export/${path}`, undefined, reading)).status;
  expect([await status(`events?tenant=${other}`), await status("audit-log")]).toEqual([403, 403]);
  await server.hooks.eventTypes.delete(name);
});

test("an invalid filter, format or parameter is an error before the first byte", async () => {
  for (const query of ["format=xml", "limit=5", "created_after=yesterday", "endpoint=x"]) {
    const { status, headers } = await server.call("GET", `/api/v1/export/deliveries?${query}`);
    expect([query, status, headers.get("content-type")]).toEqual([query, 422, "application/problem+json"]);
  }
});

test("an export that fails midway breaks the connection, for HTTP and for the command", async () => {
  const { tenant } = await withEvents();
  const path = `/api/v1/export/events?tenant=${tenant}&format=csv`;
  const list = vi.spyOn(unaudited(server.hooks).hooks.events, "list");
  const failSecondPage = () =>
    list
      .mockResolvedValueOnce({ data: [bigEvent], nextCursor: "more" } as never)
      .mockRejectedValueOnce(new Error("The database is gone."));
  failSecondPage();
  await expect(server.call("GET", path)).rejects.toThrow();
  failSecondPage();
  const broken = await posthorn`export events --tenant ${tenant} --format csv`;
  list.mockRestore();
  expect(broken).toMatchObject({ code: 4, err: expect.stringContaining("the output is incomplete") });
  expect(broken.out).toContain(bigEvent.id);
  const whole = await posthorn`export events --tenant ${tenant}`;
  expect([whole.code, whole.out.trim().split("\n").length]).toEqual([0, 3]);
  expect(await posthorn`api exports.events tenant=${tenant}`).toMatchObject({ code: 0, out: whole.out });
});

test("pages are read only as fast as the client takes them", async () => {
  const list = vi.spyOn(unaudited(server.hooks).hooks.events, "list");
  list.mockResolvedValue({ data: Array(250).fill(bigEvent), nextCursor: "more" } as never);
  const abort = new AbortController();
  const headers = await server.keyHeaders(["deliveries:read"]);
  const response = await fetch(`${server.url}/api/v1/export/events`, { headers, signal: abort.signal });
  const reader = response.body?.getReader();
  await reader?.read();
  // the buffers of both sides are full when no further page is read for a while
  const calls = await settled(() => list.mock.calls.length);
  expect(calls).toBeLessThan(20);
  for (let bytes = 0; bytes < 20_000_000; ) bytes += (await reader?.read())?.value?.length ?? 0;
  await expect.poll(() => list.mock.calls.length).toBeGreaterThan(calls);
  abort.abort();
  await settled(() => list.mock.calls.length);
  list.mockRestore();
});

test("an export ends when its key is revoked", async () => {
  const list = vi.spyOn(unaudited(server.hooks).hooks.events, "list");
  list.mockResolvedValue({ data: [bigEvent], nextCursor: "more" } as never);
  const { json: key } = await server.call("POST", "/api/v1/keys", { name: "x", scopes: ["deliveries:read"] });
  const headers = { authorization: `Bearer ${key.key}` };
  const response = await fetch(`${server.url}/api/v1/export/events`, { headers });
  await server.call("DELETE", `/api/v1/keys/${key.id}`);
  const now = performance.now();
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now + 60_000);
  await expect(response.text()).rejects.toThrow();
  clock.mockRestore();
  list.mockRestore();
});

test("a caller has at most 16 exports at a time", async () => {
  const list = vi.spyOn(unaudited(server.hooks).hooks.events, "list");
  list.mockResolvedValue({ data: Array(250).fill(bigEvent), nextCursor: "more" } as never);
  const headers = await server.keyHeaders(["deliveries:read"], await server.newTenant());
  const abort = new AbortController();
  const begin = () => fetch(`${server.url}/api/v1/export/events`, { headers, signal: abort.signal });
  // held, because a response that is collected as garbage is cancelled
  const open: Response[] = [];
  for (let n = 0; n < 17; n += 1) open.push(await begin());
  expect(open.map(({ status }) => status)).toEqual([...Array(16).fill(200), 503]);
  abort.abort();
  await expect.poll(async () => (await fetch(`${server.url}/api/v1/events`, { headers })).status).toBe(200);
  list.mockRestore();
});

/** Waits until a count has not changed for a while, and returns it. */
async function settled(count: () => number): Promise<number> {
  const seen: number[] = [];
  const isUnchanged = () => seen.push(count()) > 1 && seen.at(-1) === seen.at(-2);
  await expect.poll(isUnchanged, { interval: 300 }).toBe(true);
  return count();
}

const bigEvent = {
  id: "evt_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10",
  tenant: "acme",
  type: "order.paid",
  apiVersion: "1",
  subject: null,
  sequence: null,
  createdAt: new Date(0),
  payload: Buffer.from(JSON.stringify("x".repeat(10_000))),
  attributes: null,
};
