// Who may do what, generated from the contract: every operation with another tenant's ids, with deleted ones and with
// made-up ones, by every kind of credential. A new operation is in here as soon as it is in the contract.
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
import type pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { rotate } from "../../../../tests/support/matrix.ts";
import { bodies, endpointInput, type OperationId } from "../../../../tests/support/operation-bodies.ts";
import { createPool } from "../../../../tests/support/postgres.ts";
import { codeIn, signIn } from "../../../../tests/support/sign-in.ts";
import {
  type Answer,
  adminKey,
  startServer,
  type TestServer,
} from "../../../../tests/support/start-server.ts";

/** Where a body, not the path, says whose it is. */
const namesTenantInBody: ReadonlySet<OperationId> = new Set([
  "events.publish",
  "replays.start",
  "keys.create",
]);

type Ids = Readonly<Record<string, string>>;
/** The headers that it is sent in. */
type Credential = Readonly<Record<string, string>>;

interface World {
  readonly server: TestServer;
  readonly pool: pg.Pool;
  readonly own: Ids;
  readonly others: Ids;
  /** Were there once. */
  readonly deleted: Ids;
  readonly credentials: Readonly<Record<string, Credential>>;
  /** A session by the admin key. */
  readonly operator: Credential;
}

let world: World;

beforeAll(async () => {
  world = await makeWorld();
  return () => world.pool.end();
});

const madeUp: Ids = {
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
};

type Guarded = Operation & { readonly permission: Permission };

/** Those that take a credential; who signs in has none yet. */
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

test("every parameter of every path has ids to be tried with", () => {
  const names = new Set(operations.flatMap(([, { path }]) => pathParamsOf(path)));
  for (const ids of [world.own, world.others, world.deleted, madeUp]) {
    expect(Object.keys(ids)).toEqual(expect.arrayContaining([...names]));
  }
});

describe("a credential of one tenant, with an id that is not that tenant's", () => {
  test.each(withIds)("%s tells nothing and changes nothing", async (id, operation) => {
    const before = await fingerprint("rivals");
    for (const name of pathParamsOf(operation.path)) {
      for (const [kind, credential] of credentialsFor(id, name)) {
        const answers = await Promise.all(
          [world.others, world.deleted, madeUp].map(async (foreign) => {
            const ids = { ...world.own, [name]: foreign[name] as string };
            return comparable(await call(id, operation, ids, credential), ids);
          }),
        );
        expect([403, 404], `${kind} and {${name}}`).toContain(answers[0]?.status);
        expect(answers[1], `${kind}: a deleted {${name}}`).toEqual(answers[0]);
        expect(answers[2], `${kind}: a made-up {${name}}`).toEqual(answers[0]);
      }
    }
    expect(await fingerprint("rivals")).toBe(before);
  });

  test.each(withIds)("%s is also closed to all of another tenant's ids together", async (id, operation) => {
    for (const [, credential] of credentialsFor(id)) {
      const { status } = await call(id, operation, world.others, credential);
      expect([403, 404]).toContain(status);
    }
  });

  test.each(privileged)("%s tells nothing with its privilege either", async (_id, operation) => {
    for (const credential of Object.values(world.credentials)) {
      const answers = await Promise.all(
        [world.others, { ...world.others, ...madeUp }].map(async (ids) =>
          comparable(await send(withPrivilege(operation), ids, credential, undefined), ids),
        ),
      );
      expect(answers[0]?.status).toBe(404);
      expect(answers[1]).toEqual(answers[0]);
    }
  });

  test.each([...namesTenantInBody])("%s for another tenant is refused like one for nobody", async (id) => {
    const operation = operations.find(([name]) => name === id)?.[1] as Operation;
    for (const credential of Object.values(world.credentials)) {
      const [other, nobody] = await Promise.all(
        ["rivals", "nobody"].map(async (tenant) =>
          comparable(await call(id, operation, world.own, credential, tenant), { tenant }),
        ),
      );
      expect(other).toMatchObject({ status: 403 });
      expect(nobody).toEqual(other);
    }
  });

  test.each(withinTenants.filter(([, { query }]) => query?.shape.tenant !== undefined))(
    "%s lists its own, and nothing when asked for another tenant",
    async (_id, { path }) => {
      for (const credential of Object.values(world.credentials)) {
        const headers = { ...credential, "x-request-id": "same" };
        const own = await world.server.visit("GET", path, undefined, headers);
        if (own.status === 403) continue;
        const items: { tenant?: string }[] = own.json.data ?? [];
        expect(items.map((item) => item.tenant)).not.toContain("rivals");
        const [other, nobody] = await Promise.all(
          ["rivals", "nobody"].map(async (tenant) =>
            comparable(await world.server.visit("GET", `${path}?tenant=${tenant}`, undefined, headers), {}),
          ),
        );
        expect(other).toMatchObject({ status: 403 });
        expect(nobody).toEqual(other);
      }
    },
  );

  test("what concerns the whole installation is refused, whatever it is", async () => {
    const wide = operations.filter(([, { permission }]) => permission.reach === "installation");
    expect(wide.length).toBeGreaterThan(2);
    for (const [id, operation] of wide) {
      for (const ids of [world.own, world.others, madeUp]) {
        for (const credential of Object.values(world.credentials)) {
          const answer = await call(id, operation, ids, credential);
          expect([id, answer.status]).toEqual([id, 403]);
        }
      }
    }
  });
});

describe("scopes and roles", () => {
  test.each(operations)("%s is open to the scopes of the contract and to no other", async (id, operation) => {
    for (const scope of SCOPES) {
      const isAllowed = operation.permission.scopes.includes(scope) || scope === "admin";
      const { status } = await call(id, operation, madeUpBut({ tenant: "acme" }), await keyWith(scope));
      // refused for what was asked, and not for who asks, is open enough: nothing of it exists
      expect([id, scope, status === 403]).toEqual([id, scope, !isAllowed]);
    }
  });

  test.each(privileged)(
    "%s with its privilege is open to those with all its scopes",
    async (_id, operation) => {
      const { scopes } = operation.privilege as NonNullable<Operation["privilege"]>;
      const openTo = async (given: readonly Scope[]) => {
        const made = await world.server.call("POST", "/api/v1/keys", { name: "x", scopes: given });
        const { status } = await send(withPrivilege(operation), madeUp, bearer(made.json.key), undefined);
        return status !== 403;
      };
      const [needed] = operation.permission.scopes;
      for (const lacking of scopes)
        expect(await openTo([needed, ...scopes.filter((scope) => scope !== lacking)])).toBe(false);
      expect(await openTo([...scopes])).toBe(false);
      expect(await openTo([needed, ...scopes])).toBe(true);
    },
  );

  test.each(operations)("%s is open to the roles whose scopes it needs", async (id, operation) => {
    for (const [role, scopes] of Object.entries(ROLE_SCOPES) as [Role, readonly Scope[]][]) {
      const { scopes: needed, reach } = operation.permission;
      const isAllowed = reach === "tenant" && needed.some((scope) => scopes.includes(scope));
      const ids = madeUpBut({ tenant: "acme" });
      const { status } = await call(id, operation, ids, await tokenOf(role));
      expect([id, role, status === 403]).toEqual([id, role, !isAllowed]);
    }
  });
});

describe("sessions", () => {
  const ofSession: readonly OperationId[] = ["session.get", "session.end"];
  const behindIt = operations.filter(([id]) => !ofSession.includes(id));

  test.each(behindIt)(
    "%s is open to a session by the admin key, as it is to that key",
    async (id, operation) => {
      const { status } = await call(id, operation, madeUp, world.operator);
      // nothing of it exists: refused for what was asked, and not for who asks
      expect([id, [401, 403].includes(status)]).toEqual([id, false]);
    },
  );

  test.each(operations)("%s answers no session that another site's page uses", async (id, operation) => {
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

test.each(operations)(
  "%s refuses a parameter that it does not know, and changes nothing",
  async (id, operation) => {
    const before = await fingerprint("rivals");
    const asked = { ...operation, path: `${operation.path}?no_such_parameter=1` } as Operation;
    const answer = await send(asked, world.others, bearer(adminKey), bodies[id]?.("rivals"));
    expect([answer.status, answer.json.errors?.[0]]).toMatchObject([422, { parameter: "no_such_parameter" }]);
    expect(await fingerprint("rivals")).toBe(before);
  },
);

// what takes no body has no field either
test.each(operations.filter(([, { method }]) => method !== "GET"))(
  "%s refuses a field that it does not know, and changes nothing",
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

test("without a credential nothing of the contract is open", async () => {
  for (const [id, operation] of operations) {
    const { status } = await call(id, operation, world.own, bearer("none"));
    expect([id, status]).toEqual([id, 401]);
  }
});

function credentialsFor(id: OperationId, param = ""): readonly (readonly [string, Credential])[] {
  const row = operations.findIndex(([name]) => name === id) + param.length;
  return rotate(Object.entries(world.credentials), row);
}

function madeUpBut(ids: Ids): Ids {
  return { ...madeUp, ...ids };
}

const keys = new Map<string, Credential>();

function bearer(key: string): Credential {
  return { authorization: `Bearer ${key}` };
}

async function keyWith(scope: Scope): Promise<Credential> {
  const known = keys.get(scope);
  if (known !== undefined) return known;
  const made = await world.server.call("POST", "/api/v1/keys", { name: scope, scopes: [scope] });
  keys.set(scope, bearer(made.json.key));
  return bearer(made.json.key);
}

async function tokenOf(role: Role): Promise<Credential> {
  const known = keys.get(`role ${role}`);
  if (known !== undefined) return known;
  const path = `/api/v1/tenants/acme/members/${role}-1`;
  await world.server.call("PUT", path, { role });
  const made = await world.server.call("POST", `${path}/tokens`);
  keys.set(`role ${role}`, bearer(made.json.key));
  return bearer(made.json.key);
}

async function call(
  id: OperationId,
  { method, path }: Operation,
  ids: Ids,
  credential: Credential,
  tenant = ids.tenant as string,
): Promise<Answer> {
  return await send({ method, path }, ids, credential, bodies[id]?.(tenant));
}

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

/** What is left when the ids that were asked for are taken out of the answer. */
function comparable({ status, text }: Answer, ids: Ids): { status: number; text: string } {
  let rest = text;
  for (const value of Object.values(ids)) rest = rest.replaceAll(value, "…");
  return { status, text: rest };
}

/** A digest of all rows of a tenant, in every table that has the column, and of the queue. */
async function fingerprint(tenant: string): Promise<string> {
  const { rows } = await world.pool.query(await fingerprintQuery(), [tenant]);
  return JSON.stringify(rows);
}

let knownQuery: Promise<string> | undefined;

function fingerprintQuery(): Promise<string> {
  knownQuery ??= world.pool
    .query<{ query: string }>(
      `select string_agg(
         format('select %1$L, md5(string_agg(t::text, chr(10) order by t::text)) from posthorn.%1$I t where t.tenant = $1', table_name),
         ' union all ' order by table_name
       ) as query
       from information_schema.columns
       join information_schema.tables using (table_schema, table_name)
       where table_schema = 'posthorn' and column_name = 'tenant' and table_type = 'BASE TABLE'`,
    )
    .then(
      ({ rows }) =>
        `${rows[0]?.query} union all select 'queue', string_agg(concat_ws(' ', id, next_at, attempts, replay_count), ',' order by id) from posthorn.queue`,
    );
  return knownQuery;
}

async function makeWorld(): Promise<World> {
  const server = await startServer({ started: false, atEnd: afterAll });
  await server.hooks.start({ role: "api" });
  // types are everybody's to read; what is not there is not there for anybody
  await server.call("PUT", "/api/v1/event-types/order.paid");
  await server.call("PUT", "/api/v1/event-types/order.gone");
  await server.call("DELETE", "/api/v1/event-types/order.gone");
  const own = await populate(server, "acme");
  const others = await populate(server, "rivals");
  const gone = await populate(server, "gone");
  const deleted = { ...(await remove(server, gone)), ...(await removeOf(server, "acme")) };
  const admin = await server.call("POST", "/api/v1/keys", {
    name: "all",
    tenant: "acme",
    scopes: [...SCOPES],
  });
  const owner = await server.call("POST", "/api/v1/tenants/acme/members/anna-of-acme/tokens");
  const pool = createPool(server.connectionString, { max: 1 });
  return {
    server,
    pool,
    own,
    others,
    deleted,
    operator: (await signIn(server, { key: adminKey })).headers,
    credentials: {
      "key of all scopes": bearer(admin.json.key),
      "token of an owner": bearer(owner.json.key),
      "session by that key": (await signIn(server, { key: admin.json.key })).headers,
      "session by that token": (await signIn(server, { key: owner.json.key })).headers,
      "portal session": await portalSession(server, {}),
      "portal session of an owner": await portalSession(server, { user: "anna-of-acme" }),
    },
  };
}

async function portalSession(server: TestServer, input: object): Promise<Credential> {
  const { json } = await server.call("POST", "/api/v1/tenants/acme/portal-links", input);
  return (await signIn(server, { code: codeIn(json.url) })).headers;
}

async function populate(server: TestServer, tenant: string): Promise<Ids> {
  await server.call("PUT", `/api/v1/tenants/${tenant}`);
  const user = `anna-of-${tenant}`;
  await server.call("PUT", `/api/v1/tenants/${tenant}/members/${user}`, { role: "owner" });
  const endpoint = await server.call("POST", `/api/v1/tenants/${tenant}/endpoints`, endpointInput);
  const secret = await retiredSecret(server, `/api/v1/tenants/${tenant}/endpoints/${endpoint.json.id}`);
  const event = await server.call("POST", "/api/v1/events", { tenant, type: "order.paid", data: {} });
  const deliveries = await server.call("GET", `/api/v1/tenants/${tenant}/deliveries`);
  const key = await server.call("POST", "/api/v1/keys", { name: "x", tenant, scopes: ["admin"] });
  const replay = await server.call("POST", "/api/v1/replays", { tenant });
  const link = await server.call("POST", `/api/v1/tenants/${tenant}/portal-links`);
  return {
    tenant,
    user,
    endpoint: endpoint.json.id,
    event: event.json.id,
    delivery: deliveries.json.data[0].id,
    replay: replay.json.id,
    key: key.json.id,
    link: link.json.id,
    secret,
    name: tenant === "acme" ? "order.paid" : `order.of.${tenant}`,
  };
}

/** One that a rotation has left valid. */
async function retiredSecret(server: TestServer, endpointPath: string): Promise<string> {
  await server.call("POST", `${endpointPath}/rotate-secret`);
  const { json } = await server.call("GET", `${endpointPath}/secrets`);
  return json.data[1].id;
}

/** A tenant that is gone, with what was its own. */
async function remove(server: TestServer, ids: Ids): Promise<Ids> {
  await server.call("DELETE", `/api/v1/tenants/${ids.tenant}/endpoints/${ids.endpoint}`);
  await server.call("DELETE", `/api/v1/tenants/${ids.tenant}`);
  return ids;
}

/** Of a tenant that is still there, an endpoint, a member and a key that are not. */
async function removeOf(server: TestServer, tenant: string): Promise<Ids> {
  const made = await server.call("POST", `/api/v1/tenants/${tenant}/endpoints`, endpointInput);
  await server.call("DELETE", `/api/v1/tenants/${tenant}/endpoints/${made.json.id}`);
  await server.call("PUT", `/api/v1/tenants/${tenant}/members/bob`, { role: "member" });
  await server.call("DELETE", `/api/v1/tenants/${tenant}/members/bob`);
  const key = await server.call("POST", "/api/v1/keys", { name: "x", tenant, scopes: ["admin"] });
  await server.call("DELETE", `/api/v1/keys/${key.json.id}`);
  const link = await server.call("POST", `/api/v1/tenants/${tenant}/portal-links`);
  await server.call("DELETE", `/api/v1/tenants/${tenant}/portal-links/${link.json.id}`);
  const endpoints = await server.call("GET", `/api/v1/tenants/${tenant}/endpoints`);
  const path = `/api/v1/tenants/${tenant}/endpoints/${endpoints.json.data[0].id}`;
  const secret = await retiredSecret(server, path);
  await server.call("DELETE", `${path}/secrets/${secret}`);
  return {
    endpoint: made.json.id,
    user: "bob",
    key: key.json.id,
    link: link.json.id,
    secret,
    name: "order.gone",
  };
}
