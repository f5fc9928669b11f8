// Endpoints over HTTP: settings, filters, import, secrets, tests, disabling, and their logs.
import { createHmac, randomBytes } from "node:crypto";
import { contract } from "@posthorn/client";
import { expect, test } from "vitest";
import { startReceiver } from "../../../../../../tests/support/servers/start-receiver.ts";
import { sharedServer } from "../../../../../../tests/support/servers/start-server.ts";

const server = sharedServer({ posthorn: { retryPolicy: "10ms,1h" } });
const hook = { url: "https://hooks.example/in", events: ["*"] };

/** A new tenant with an endpoint, and requests below the endpoint's path. */
async function withEndpoint(input: object = {}) {
  const tenant = await server.newTenant();
  const list = `/api/v1/tenants/${tenant}/endpoints`;
  const create = async (given: object) => (await server.call("POST", list, { ...hook, ...given })).json;
  const endpoint = await create(input);
  const path = `${list}/${endpoint.id}`;
  return {
    server,
    tenant,
    list,
    create,
    endpoint,
    path,
    get: async (below = "") => (await server.call("GET", path + below)).json,
    patch: (change: unknown) => server.call("PATCH", path, change),
    post: (below: string, body?: unknown) => server.call("POST", path + below, body),
  };
}

async function withReceiver(input: object = {}) {
  const receiver = await startReceiver();
  return { receiver, ...(await withEndpoint({ url: `${receiver.url}/in`, ...input })) };
}

const pointersOf = ({ json }: { json: { errors: { pointer: string }[] } }) =>
  json.errors.map(({ pointer }) => pointer);

test("names that the caller chose are used and reported as they were given", async () => {
  const { server, list, create } = await withEndpoint();
  const own = await create({
    signature: { schemes: ["sha256:my_label"] },
    scheme_secrets: { "sha256:my_label": "text-of-another-sender" },
    secret_encoding: "text",
    envelope_fields: { tenant_id: "teamId" },
  });
  expect(own).toMatchObject({
    signature: { schemes: ["sha256:my_label"] },
    envelope_fields: { tenant_id: "teamId" },
  });
  const wrong = {
    scheme_secrets: { TOPS: "a", "my:Vendor": "a" },
    envelope_fields: { teamName: "a" },
    headers: { Host: "a" },
  };
  const refused = await server.call("POST", list, { ...hook, ...wrong });
  expect(pointersOf(refused)).toEqual([
    "/envelope_fields/teamName",
    "/headers/Host",
    "/scheme_secrets/TOPS",
    "/scheme_secrets/my:Vendor",
  ]);
  for (const pointer of pointersOf(refused)) expect(refused.json.detail).toContain(`${pointer}: `);
});

test("an endpoint has the fields of the contract, and its secret only on creation", async () => {
  const { server, endpoint, path, list, patch } = await withEndpoint({ headers: { "X-MyTeam": "a_B" } });
  const { secret, warnings, ...created } = endpoint;
  expect(secret).toMatch(/^whsec_/);
  expect(warnings).toEqual([]);
  expect(Object.keys(created)).toEqual(Object.keys(contract.endpoints.get.response.schema.shape));
  expect(created.headers).toEqual({ "X-MyTeam": "a_B" });
  for (const answer of [
    await server.call("GET", path),
    await server.call("GET", list),
    await patch({ description: "x" }),
  ]) {
    expect(answer.status).toBe(200);
    expect(answer.text).not.toMatch(/secret|whsec/);
  }
});

test("a returned endpoint is accepted as input, except its read-only fields, which the error names", async () => {
  const { get, patch } = await withEndpoint({ retry_policy: "exponential", fifo_on_dead: "hold" });
  const endpoint = await get();
  const refused = await patch(endpoint);
  const readOnly = "id tenant disabled_reason disabled_at circuit health websub created_at updated_at".split(
    " ",
  );
  expect(refused.json.detail).toContain(
    `"id" is read-only. Remove the read-only fields: ${[...readOnly, "warnings"].join(", ")}.`,
  );
  expect(pointersOf(refused).toSorted()).toEqual(readOnly.map((name) => `/${name}`).toSorted());
  const rest = Object.entries(endpoint).filter(([name]) => !readOnly.includes(name));
  const back = await patch(Object.fromEntries(rest));
  expect(back.json).toEqual({ ...endpoint, updated_at: expect.any(String), warnings: [] });
});

test("a problem of a setting is reported with its pointer, in the names of the API", async () => {
  const { patch } = await withEndpoint();
  for (const [change, pointer, detail] of [
    [{ is_actve: true }, "/is_actve", /Did you mean is_active/],
    [{ timeout_ms: "10" }, "/timeout_ms", /number/],
    [{ timeout_ms: 1, max_in_flight: 0 }, "/timeout_ms", /\/timeout_ms: .*\/max_in_flight: /],
    [{ secret: "whsec_x" }, "/secret", /secret/],
    [{ signature: { header_prefx: "X" } }, "/signature/header_prefx", /header_prefix/],
    [{ signature: { header_prefix: "X-" } }, "/signature/header_prefix", /header_prefix: /],
    [{ headers: { Host: "x" } }, "/headers/Host", /Host/],
    [{ retry_policy: { gaps: [], exponential: {} } }, "/retry_policy", /max_attempts: 12.*max_age/],
    [{ ordering: "lifo" }, "/ordering", /fifo/],
  ] as const) {
    const { status, json } = await patch(change);
    expect([status, json.errors[0].pointer]).toEqual([422, pointer]);
    expect(json.detail).toMatch(detail);
    expect(JSON.stringify([json.detail, json.errors])).not.toMatch(/[a-z][A-Z]/);
  }
});

test.each<[action: string, body: object, pointer: string, detail: RegExp]>([
  ["disable", { type: "x" }, "/type", /^\/type: "type" is not a field: this takes no fields\.$/],
  ["enable", { backlog: "drop" }, "/backlog", /This must be one of deliver, discard\./],
  ["enable", { baklog: "discard" }, "/baklog", /Did you mean backlog\?/],
  ["match", { type: "a", data: 1, filter: { data: { orderId: {} } } }, "/filter/data/orderId", /empty/],
  ["match", { type: "No Type", data: 1 }, "/type", /type/],
  ["match", { type: "a", data: 1, api_version: "2" }, "/api_version", /api_version/],
  ["rotate-secret", { overlap_seconds: -1 }, "/overlap_seconds", /^overlap_seconds is a whole number/],
  ["test", { type: "webhook.endpoint.disabled" }, "/type", /webhook/],
  ["test", { subject: "" }, "/subject", /subject/],
  ["../import", { endpoints: [{ ...hook, timeout_ms: 1 }] }, "/endpoints/0/timeout_ms", /timeout_ms/],
  ["../import", { endpoints: [{ ...hook, owner: "x" }] }, "/endpoints/0/owner", /owner/],
])("%s refuses %j with the pointer %s", async (action, body, pointer, detail) => {
  const { post } = await withEndpoint();
  const refused = await post(`/${action}`, body);
  expect([refused.status, pointersOf(refused)]).toEqual([422, [pointer]]);
  expect(refused.json.detail).toMatch(detail);
});

test("an import accepts a list that the API returned, and does not convert names in headers and filters", async () => {
  const { server, tenant, list, endpoint, get } = await withEndpoint({ rate_limit: 5 });
  const importAll = (endpoints: readonly object[]) => server.call("POST", `${list}/import`, { endpoints });
  const listed = (await server.call("GET", list)).json.data;
  expect((await importAll(listed)).status).toBe(200);
  expect(await get()).toEqual({ ...listed[0], updated_at: expect.any(String) });
  const own = { headers: { "X-MyTeam": "a" }, filter: { data: { orderId: 1 } } };
  const { json } = await importAll([{ ...hook, tenant: "rivals", ...own }, listed[0]]);
  const [made] = json.endpoints;
  expect(made).toMatchObject({ action: "created", secret: expect.stringMatching(/^whsec_/) });
  expect((await server.call("GET", list)).json.data).toMatchObject([
    { id: made.id, tenant, ...own },
    { id: endpoint.id, rate_limit: 5 },
  ]);
});

test("the endpoints of all tenants are listed newest first, by tenant and state, page by page", async () => {
  const { server, receiver, tenant: acme, endpoint: fine, create } = await withReceiver();
  receiver.answer("/broken", 500);
  const { endpoint: off, post } = await withEndpoint();
  const broken = await create({ url: `${receiver.url}/broken` });
  const { path: deleted } = await withEndpoint();
  await server.call("DELETE", deleted);
  await post("/disable");
  await server.call("POST", "/api/v1/events", { tenant: acme, type: "order.paid", data: 1 });
  const names = new Map([
    [fine.id, "fine"],
    [off.id, "off"],
    [broken.id, "broken"],
  ]);
  const listed = async (query: string) => {
    const { json } = await server.call("GET", `/api/v1/endpoints?limit=250${query}`);
    return json.data.flatMap(({ id }: { id: string }) => names.get(id) ?? []);
  };
  for (const [query, expected] of [
    ["", ["broken", "off", "fine"]],
    [`&tenant=${acme}`, ["broken", "fine"]],
    ["&tenant=nobody", []],
    ["&state=active", ["broken", "fine"]],
    ["&state=disabled", ["off"]],
    [`&state=disabled&tenant=${acme}`, []],
  ] as const)
    expect([query, await listed(query)]).toEqual([query, expected]);
  await expect.poll(() => listed("&state=failing")).toEqual(["broken"]);
  const first = await server.call("GET", `/api/v1/endpoints?tenant=${acme}&limit=1`);
  expect(await listed(`&tenant=${acme}&cursor=${first.json.next_cursor}`)).toEqual(["fine"]);
});

test("after a rotation both secrets sign and are listed, until the old one is deleted", async () => {
  const { server, receiver, path, get, post } = await withReceiver({
    signature: { schemes: ["standard-webhooks"] },
  });
  const signatures = async () => {
    const seen = receiver.requests.length;
    await post("/test");
    const [request] = (await receiver.received(seen + 1)).slice(seen);
    return String(request?.headers["webhook-signature"]).split(" ").length;
  };
  const [before] = (await get("/secrets")).data;
  const rotated = await post("/rotate-secret", { overlap_seconds: 3_600 });
  const { json, text } = await server.call("GET", `${path}/secrets`);
  expect(json.data).toMatchObject([
    { is_current: true, expires_at: null },
    { id: before.id, is_current: false, expires_at: rotated.json.previous_expires_at },
  ]);
  expect(text).not.toContain("whsec_");
  expect(await signatures()).toBe(2);
  const [current, old] = json.data;
  const remove = (id: string) => server.call("DELETE", `${path}/secrets/${id}`);
  expect((await remove(current.id)).json).toMatchObject({ status: 409, code: "secret_in_use" });
  expect((await remove(old.id)).status).toBe(204);
  expect((await remove(old.id)).json).toMatchObject({ status: 404, code: "secret_not_found" });
  expect(await signatures()).toBe(1);
});

test("existing secrets are imported and rotated in, returned once as given, and not in the audit log", async () => {
  const { server, receiver, tenant, list } = await withReceiver();
  const secret = randomBytes(24).toString("hex");
  const url = `${receiver.url}/imported`;
  const item = { ...hook, url, secret, secret_encoding: "hex", signature: { schemes: ["sha256"] } };
  const { json: done } = await server.call("POST", `${list}/import`, { endpoints: [item] });
  expect(done.endpoints).toMatchObject([{ action: "created", secret }]);
  const path = `${list}/${done.endpoints[0].id}`;
  const signedBy = async (key: Buffer, header: string) => {
    const seen = receiver.requestsTo("/imported").length;
    await server.call("POST", `${path}/test`);
    await expect.poll(() => receiver.requestsTo("/imported").length).toBe(seen + 1);
    const { headers, body } = receiver.requestsTo("/imported").at(-1) as { headers: object; body: Buffer };
    const mac = createHmac("sha256", key).update(body).digest("hex");
    expect(headers).toMatchObject({ [header]: `sha256=${mac}` });
  };
  await signedBy(Buffer.from(secret, "hex"), "x-webhook-signature");
  const rotation = { secret: "Ein Satz als Schlüssel", secret_encoding: "text" };
  const { json: rotated } = await server.call("POST", `${path}/rotate-secret`, rotation);
  expect(rotated.secret).toBe(rotation.secret);
  await signedBy(Buffer.from(secret, "hex"), "x-webhook-signature");
  await signedBy(Buffer.from(rotation.secret), "x-webhook-signature-next");
  const { text } = await server.call("GET", `/api/v1/audit-log?tenant=${tenant}`);
  expect(text).toContain('"secret_encoding":"hex"');
  for (const given of [secret, rotation.secret]) expect(text).not.toContain(given);
  const alone = await server.call("POST", `${path}/rotate-secret`, { secret_encoding: "text" });
  expect([alone.status, pointersOf(alone)]).toEqual([422, ["/secret_encoding"]]);
});

test("a test event is sent to this endpoint only, and its data is not in the audit log", async () => {
  const { server, receiver, create, get, post } = await withReceiver({ events: ["invoice.*"] });
  receiver.answer("/in", { body: Buffer.from([0x6f, 0x6b, 0xff]) });
  await create({ url: `${receiver.url}/other` });
  const input = { type: "order.paid", data: { amount_due: 5 }, subject: "order-7" };
  const { json: sent } = await post("/test", input);
  const [request] = await receiver.received(1);
  expect(JSON.parse(String(request?.body))).toMatchObject(input);
  const { json: event } = await server.call("GET", `/api/v1/events/${sent.event_id}`);
  expect(event).toMatchObject({ ...input, sequence: null });
  await expect
    .poll(async () => (await server.call("GET", `/api/v1/deliveries/${sent.delivery_id}`)).json)
    .toMatchObject({ state: "success", attempts: [{ response_body: "ok\ufffd", error: null }] });
  expect((await get("/deliveries?state=success")).data).toMatchObject([{ id: sent.delivery_id }]);
  expect(receiver.requestsTo("/other")).toEqual([]);
  const { json: audit } = await server.call("GET", "/api/v1/audit-log?action=endpoints.test&limit=1");
  expect(audit.data).toMatchObject([{ changes: { ...input, data: "…" } }]);
});
