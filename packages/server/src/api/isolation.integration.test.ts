// Permissions, generated from the contract: every operation with ids of another tenant, deleted ones and unknown ones, by
// every kind of credential. It includes a new operation as soon as the contract does.
import {
  type Operation,
  operationsOf,
  type Permission,
  pathParamsOf,
  ROLE_SCOPES,
  type Role,
  SCOPES,
  type Scope,
} from "@posthorn/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createPool } from "../../../../tests/support/database/postgres.ts";
import { rotate } from "../../../../tests/support/matrix.ts";
import { bodies, type OperationId } from "../../../../tests/support/samples/operation-bodies.ts";
import {
  type Answer,
  adminKey,
  codeIn,
  signIn,
  startServer,
  type TestServer,
} from "../../../../tests/support/servers/start-server.ts";

/** Operations whose body names the tenant. */
const namesTenantInBody: ReadonlySet<OperationId> = new Set([
  "events.publish",
  "replays.start",
  "keys.create",
]);

type Ids = Readonly<Record<string, string>>;
/** Headers of a request. */
type Credential = Readonly<Record<string, string>>;

let world: Awaited<ReturnType<typeof makeWorld>>;

beforeAll(async () => {
  world = await makeWorld();
  return () => world.pool.end();
});

const unknownIds: Ids = {
  tenant: "nobody",
  user: "nobody",
  endpoint: "ep_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10",
  event: "evt_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10",
  delivery: "dlv_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10",
  replay: "rpl_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10",
  key: "0000000000",
  link: "0000000000",
  secret: "sec_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10",
  name: "made.up",
  source: "nothing",
};

type Guarded = Operation & { readonly permission: Permission };

/** Operations that need a credential. */
const operations = operationsOf().filter(([, { permission }]) => permission !== "public") as [
  OperationId,
  Guarded,
][];
const withinTenants = operations.filter(([, { permission }]) => permission.reach === "tenant");
const withIds = withinTenants.filter(([, { path }]) => pathParamsOf(path).length > 0);

const privileged = operations.filter(([, { privilege }]) => privilege !== undefined);

function withPrivilege({ method, path, privilege }: Operation): Pick<Operation, "method" | "path"> {
  return { method, path: `${path}?${privilege?.parameter}=true` };
}

test("the ids of this test include every parameter of every path", () => {
  const names = new Set(operations.flatMap(([, { path }]) => pathParamsOf(path)));
  for (const ids of [world.own, world.others, world.deleted, unknownIds]) {
    expect(Object.keys(ids)).toEqual(expect.arrayContaining([...names]));
  }
});

describe("a credential of one tenant with an id of another", () => {
  test.each(withIds)("%s reveals and changes nothing", async (id, operation) => {
    const before = await fingerprint("rivals");
    for (const name of pathParamsOf(operation.path)) {
      const row = operations.findIndex(([known]) => known === id) + name.length;
      for (const [kind, credential] of rotate(Object.entries(world.credentials), row)) {
        const answers = await Promise.all(
          [world.others, world.deleted, unknownIds].map(async (foreign) => {
            const ids = { ...world.own, [name]: foreign[name] as string };
            return comparable(await call(id, operation, ids, credential), ids);
          }),
        );
        expect([403, 404], `${kind} and {${name}}`).toContain(answers[0]?.status);
        expect(answers[1], `${kind}: a deleted {${name}}`).toEqual(answers[0]);
        expect(answers[2], `${kind}: an unknown {${name}}`).toEqual(answers[0]);
      }
    }
    expect(await fingerprint("rivals")).toBe(before);
  });

  test.each(privileged)("%s reveals nothing with its privilege either", async (_id, operation) => {
    for (const credential of Object.values(world.credentials)) {
      const answers = await Promise.all(
        [world.others, { ...world.others, ...unknownIds }].map(async (ids) =>
          comparable(await send(withPrivilege(operation), ids, credential, undefined), ids),
        ),
      );
      expect(answers[0]?.status).toBe(404);
      expect(answers[1]).toEqual(answers[0]);
    }
  });

  test.each([...namesTenantInBody])(
    "%s for another tenant is refused like one for an unknown tenant",
    async (id) => {
      const operation = operations.find(([name]) => name === id)?.[1] as Operation;
      for (const credential of Object.values(world.credentials)) {
        const [other, unknown] = await Promise.all(
          ["rivals", "nobody"].map(async (tenant) =>
            comparable(await call(id, operation, world.own, credential, tenant), { tenant }),
          ),
        );
        expect(other).toMatchObject({ status: 403 });
        expect(unknown).toEqual(other);
      }
    },
  );

  test.each(withinTenants.filter(([, { query }]) => query?.shape.tenant !== undefined))(
    "%s lists only items of its tenant, and refuses another tenant",
    async (_id, { path }) => {
      for (const credential of Object.values(world.credentials)) {
        const headers = { ...credential, "x-request-id": "same" };
        const own = await world.server.visit("GET", path, undefined, headers);
        if (own.status === 403) continue;
        const items: { tenant?: string }[] = own.json.data ?? [];
        expect(items.map((item) => item.tenant)).not.toContain("rivals");
        const [other, unknown] = await Promise.all(
          ["rivals", "nobody"].map(async (tenant) =>
            comparable(await world.server.visit("GET", `${path}?tenant=${tenant}`, undefined, headers), {}),
          ),
        );
        expect(other).toMatchObject({ status: 403 });
        expect(unknown).toEqual(other);
      }
    },
  );

  test("operations on the whole installation are refused", async () => {
    const wide = operations.filter(([, { permission }]) => permission.reach === "installation");
    expect(wide.length).toBeGreaterThan(2);
    for (const [id, operation] of wide) {
      for (const ids of [world.own, world.others, unknownIds]) {
        for (const credential of Object.values(world.credentials)) {
          const answer = await call(id, operation, ids, credential);
          expect([id, answer.status]).toEqual([id, 403]);
        }
      }
    }
  });
});

describe("scopes and roles", () => {
  test.each(operations)(
    "%s is allowed by its scopes and by roles that have one of them",
    async (id, operation) => {
      const { scopes: needed, reach } = operation.permission;
      // an allowed request fails otherwise, because the ids are unknown
      const isForbidden = async (credential: Credential) =>
        (await call(id, operation, { ...unknownIds, tenant: "acme" }, credential)).status === 403;
      for (const scope of SCOPES) {
        const isAllowed = needed.includes(scope) || scope === "admin";
        expect([id, scope, await isForbidden(await keyWith(scope))]).toEqual([id, scope, !isAllowed]);
      }
      for (const [role, scopes] of Object.entries(ROLE_SCOPES) as [Role, readonly Scope[]][]) {
        const isAllowed = reach === "tenant" && needed.some((scope) => scopes.includes(scope));
        expect([id, role, await isForbidden(await tokenOf(role))]).toEqual([id, role, !isAllowed]);
      }
    },
  );

  test.each(privileged)("%s with its privilege needs all its scopes", async (_id, operation) => {
    const { scopes } = operation.privilege as NonNullable<Operation["privilege"]>;
    const openTo = async (given: readonly Scope[]) => {
      const key = await world.server.keyHeaders(given);
      const { status } = await send(withPrivilege(operation), unknownIds, key, undefined);
      return status !== 403;
    };
    const [needed] = operation.permission.scopes;
    for (const lacking of scopes)
      expect(await openTo([needed, ...scopes.filter((scope) => scope !== lacking)])).toBe(false);
    expect(await openTo([...scopes])).toBe(false);
    expect(await openTo([needed, ...scopes])).toBe(true);
  });
});

describe("sessions", () => {
  const ofSession: readonly OperationId[] = ["session.get", "session.end"];
  const behindIt = operations.filter(([id]) => !ofSession.includes(id));

  test.each(behindIt)("%s is allowed by a session of the admin key", async (id, operation) => {
    const { status } = await call(id, operation, unknownIds, world.operator);
    expect([id, [401, 403].includes(status)]).toEqual([id, false]);
  });

  test.each(operations)("%s refuses a session that a page of another site uses", async (id, operation) => {
    const before = await fingerprint("acme");
    for (const sent of [world.operator, world.credentials["portal session"] as Credential]) {
      const { "posthorn-dashboard": _, ...withoutHeader } = sent;
      for (const credential of [withoutHeader, { ...sent, "sec-fetch-site": "cross-site" }]) {
        const { status, json } = await call(id, operation, world.own, credential);
        expect([id, status, json.code]).toEqual([id, 403, "cross_site_request"]);
      }
    }
    expect(await fingerprint("acme")).toBe(before);
  });
});

test.each(operations)("%s refuses an unknown parameter, and changes nothing", async (id, operation) => {
  const before = await fingerprint("rivals");
  const asked = { ...operation, path: `${operation.path}?no_such_parameter=1` } as Operation;
  const answer = await send(asked, world.others, bearer(adminKey), bodies[id]?.("rivals"));
  expect([answer.status, answer.json.errors?.[0]]).toMatchObject([422, { parameter: "no_such_parameter" }]);
  expect(await fingerprint("rivals")).toBe(before);
});

test.each(operations.filter(([, { method }]) => method !== "GET"))(
  "%s refuses an unknown field, and changes nothing",
  async (id, operation) => {
    const fine = bodies[id]?.("rivals") ?? {};
    const before = await fingerprint("rivals");
    const answer = await send(operation, world.others, bearer(adminKey), {
      ...(fine as object),
      no_such_field: 1,
    });
    expect([answer.status, answer.json.errors?.[0]]).toMatchObject([422, { pointer: "/no_such_field" }]);
    expect(await fingerprint("rivals")).toBe(before);
  },
);

test("every operation needs a credential", async () => {
  for (const [id, operation] of operations) {
    const { status } = await call(id, operation, world.own, bearer("none"));
    expect([id, status]).toEqual([id, 401]);
  }
});

const known = new Map<string, Promise<Credential>>();

/** Creates each credential once. */
function cached(name: string, create: () => Promise<Credential>): Promise<Credential> {
  const found = known.get(name) ?? create();
  known.set(name, found);
  return found;
}

const keyWith = (scope: Scope) => cached(`scope ${scope}`, () => world.server.keyHeaders([scope]));

function tokenOf(role: Role): Promise<Credential> {
  return cached(`role ${role}`, async () => {
    const path = `/api/v1/tenants/acme/members/${role}-1`;
    await world.server.call("PUT", path, { role });
    return bearer((await world.server.call("POST", `${path}/tokens`)).json.key);
  });
}

function bearer(key: string): Credential {
  return { authorization: `Bearer ${key}` };
}

const call = (id: OperationId, at: Operation, ids: Ids, credential: Credential, tenant = ids.tenant ?? "") =>
  send(at, ids, credential, bodies[id]?.(tenant));

async function send(
  { method, path }: Pick<Operation, "method" | "path">,
  ids: Ids,
  credential: Credential,
  body: unknown,
): Promise<Answer> {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] as string));
  const headers = { ...credential, "x-request-id": "same" };
  return await world.server.visit(method, filled, body, headers);
}

/** The response without the ids of the request. */
function comparable({ status, text }: Answer, ids: Ids): { status: number; text: string } {
  let rest = text;
  for (const value of Object.values(ids)) rest = rest.replaceAll(value, "…");
  return { status, text: rest };
}

/** A digest of all rows of a tenant, in every table that has the column, and of the queue. */
async function fingerprint(tenant: string): Promise<string> {
  knownQuery ??= (await world.pool.query<{ query: string }>(QUERY_OF_TABLES)).rows[0]?.query;
  const queue = "concat_ws(' ', id, next_at, attempts, replay_count)";
  const text = `${knownQuery} union all select 'queue', string_agg(${queue}, ',' order by id) from posthorn.queue`;
  return JSON.stringify((await world.pool.query(text, [tenant])).rows);
}

let knownQuery: string | undefined;

const QUERY_OF_TABLES = `
select string_agg(
  format('select %1$L, md5(string_agg(t::text, chr(10) order by t::text)) from posthorn.%1$I t where t.tenant = $1', table_name),
  ' union all ' order by table_name
) as query
from information_schema.columns
join information_schema.tables using (table_schema, table_name)
where table_schema = 'posthorn' and column_name = 'tenant' and table_type = 'BASE TABLE'`;

async function makeWorld() {
  const server = await startServer({ started: false, atEnd: afterAll });
  const { call } = server;
  await server.hooks.start({ role: "api" });
  for (const type of ["order.paid", "order.gone"]) await call("PUT", `/api/v1/event-types/${type}`);
  await call("DELETE", "/api/v1/event-types/order.gone");
  const own = await populate(server, "acme");
  const others = await populate(server, "rivals");
  const gone = await populate(server, "gone");
  await call("DELETE", `/api/v1/tenants/gone/endpoints/${gone.endpoint}`);
  await call("DELETE", "/api/v1/tenants/gone");
  const deleted = { ...gone, ...(await removeOf(server, own)) };
  const { json: admin } = await call("POST", "/api/v1/keys", { name: "all", tenant: "acme", scopes: SCOPES });
  const { json: owner } = await call("POST", "/api/v1/tenants/acme/members/anna-of-acme/tokens");
  const sessionOf = async (given: Parameters<typeof signIn>[1]) => (await signIn(server, given)).headers;
  const portalSession = async (input: object) => {
    const { json } = await call("POST", "/api/v1/tenants/acme/portal-links", input);
    return await sessionOf({ code: codeIn(json.url) });
  };
  const credentials: Readonly<Record<string, Credential>> = {
    "key of all scopes": bearer(admin.key),
    "token of an owner": bearer(owner.key),
    "session by that key": await sessionOf({ key: admin.key }),
    "session by that token": await sessionOf({ key: owner.key }),
    "portal session": await portalSession({}),
    "portal session of an owner": await portalSession({ user: "anna-of-acme" }),
  };
  const pool = createPool(server.connectionString, { max: 1 });
  /** A session of the admin key. */
  const operator: Credential = await sessionOf({ key: adminKey });
  return { server, pool, own, others, deleted, operator, credentials };
}

async function populate(server: TestServer, tenant: string): Promise<Ids> {
  const create = async (path: string, body?: object) => (await server.call("POST", path, body)).json.id;
  const { id: endpoint, path } = await server.newEndpoint({}, tenant);
  const user = `anna-of-${tenant}`;
  await server.call("PUT", `/api/v1/tenants/${tenant}/members/${user}`, { role: "owner" });
  const secret = await retiredSecret(server, path);
  const event = await create("/api/v1/events", { tenant, type: "order.paid", data: {} });
  const { json: deliveries } = await server.call("GET", `/api/v1/tenants/${tenant}/deliveries`);
  return {
    ...{ tenant, user, endpoint, secret, event, delivery: deliveries.data[0].id },
    key: await create("/api/v1/keys", { name: "x", tenant, scopes: ["admin"] }),
    replay: await create("/api/v1/replays", { tenant }),
    link: await create(`/api/v1/tenants/${tenant}/portal-links`),
    name: tenant === "acme" ? "order.paid" : `order.of.${tenant}`,
    // belongs to no tenant
    source: "shop",
  };
}

/** A previous secret that is still valid after a rotation. */
async function retiredSecret(server: TestServer, endpointPath: string): Promise<string> {
  await server.call("POST", `${endpointPath}/rotate-secret`);
  const { json } = await server.call("GET", `${endpointPath}/secrets`);
  return json.data[1].id;
}

/** Ids of an endpoint, member, key, link and secret that were deleted from an existing tenant. */
async function removeOf(server: TestServer, { tenant, endpoint }: Ids): Promise<Ids> {
  const within = `/api/v1/tenants/${tenant}`;
  const { id, path } = await server.newEndpoint({}, tenant);
  await server.call("DELETE", path);
  await server.call("PUT", `${within}/members/bob`, { role: "member" });
  await server.call("DELETE", `${within}/members/bob`);
  const { json: key } = await server.call("POST", "/api/v1/keys", { name: "x", tenant, scopes: ["admin"] });
  await server.call("DELETE", `/api/v1/keys/${key.id}`);
  const { json: link } = await server.call("POST", `${within}/portal-links`);
  await server.call("DELETE", `${within}/portal-links/${link.id}`);
  const secret = await retiredSecret(server, `${within}/endpoints/${endpoint}`);
  await server.call("DELETE", `${within}/endpoints/${endpoint}/secrets/${secret}`);
  return { endpoint: id, user: "bob", key: key.id, link: link.id, secret, name: "order.gone" };
}
