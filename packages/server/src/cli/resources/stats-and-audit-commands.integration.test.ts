// `stats` and `audit` against a real server.
import { describe, expect, test } from "vitest";
import { queryOnce } from "../../../../../tests/support/database/own-postgres.ts";
import { eventually } from "../../../../../tests/support/eventually.ts";
import { argv, useCommandServer } from "../../../../../tests/support/servers/run-command.ts";
import { startReceiver } from "../../../../../tests/support/servers/start-receiver.ts";

const { server, posthorn, makeEndpoint, deliveryOf } = useCommandServer();

describe("stats", () => {
  /** Publishes an event to an endpoint that returns this status. Returns the endpoint's id. */
  async function deliver(tenant: string, status: number, state: string): Promise<string> {
    const endpoint = await makeEndpoint(tenant, (await startReceiver(status)).url);
    const { id } = (await posthorn`publish order.paid --tenant ${tenant} --json`).json;
    await deliveryOf(id, state);
    return endpoint;
  }

  test("shows the backlog, dead letters, recent results and next steps on one screen", async () => {
    await deliver("counted", 200, "success");
    await deliver("dying", 400, "dead");
    await deliver("failing", 503, "failed");
    // a worker writes its counts every five seconds
    await eventually("the attempts are counted", async () => {
      const { attempts } = (await posthorn`stats --json`).json;
      return attempts.success + attempts.failed + attempts.dead === 3;
    });
    const { out, err } = await posthorn`stats`;
    expect(err).toBe("");
    for (const line of [
      /^Now$/m,
      /^pending +0$/m,
      /^in flight +0$/m,
      /^failed, to be retried +1$/m,
      /^dead letters +1$/m,
      /^Attempts since 20\S+ \S+Z \(last hour\)$/m,
      /^succeeded +1$/m,
      /^failed, retried +1$/m,
      /^failed for good +1$/m,
      /^success rate +33\.3 %$/m,
      /^latency +p50 \d+ ms, p95 \d+ ms, p99 \d+ ms$/m,
      /^→ Retry queue: posthorn deliveries retry-queue$/m,
      /^→ Dead letters: posthorn deliveries list --state dead$/m,
    ])
      expect(out).toMatch(line);
    expect(out.split("\n").length).toBeLessThan(24);
    expect(Math.max(...out.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  });

  test("can be limited to a tenant, endpoint and period, and printed as JSON", async () => {
    const id = await deliver("narrow", 400, "dead");
    const { out } = await posthorn`stats --tenant narrow --endpoint ${id} --period day`;
    expect(out).toMatch(/^dead letters +1$/m);
    expect(out).toContain("(last day)");
    expect(out).toContain(`list --state dead --tenant narrow --endpoint ${id}\n`);
    expect(out).not.toContain("retry-queue");
    expect((await posthorn`stats --tenant narrow --json`).json).toMatchObject({
      now: { pending: { count: 0, is_exact: true }, dead: { count: 1 } },
      latency_ms: null,
    });
    const quiet = await posthorn`stats --tenant nobody`;
    expect(quiet.out).toMatch(/^success rate +–\nlatency +–\n$/m);
    expect(quiet.out).not.toContain("→");
  });
});

describe("audit", () => {
  test("lists actor, action, target and result, newest first, filtered by operation and time", async () => {
    const of = argv`--tenant watched`;
    await posthorn`tenants put watched --name Watched`;
    const { json: key } = await posthorn`keys create ops ${of} --scopes admin --json`;
    await posthorn`members put ann ${of} --role owner`;
    const { json: token } = await posthorn`members token ann ${of} --json`;
    const create = argv`endpoints create https://a.example/in ${of} --json`;
    const endpoint = (await posthorn`${create} --key ${key.key}`).json.id;
    await posthorn`endpoints disable ${endpoint} ${of} --key ${token.key}`;
    await posthorn`endpoints create ftp://a.example ${of}`;

    const [title, ...rows] = (await posthorn`audit list ${of}`).out.trimEnd().split("\n");
    expect(title).toMatch(/^AT +ACTOR +TENANT +ACTION +RESULT +TARGET +CHANGES$/);
    expect(rows[0]).toMatch(
      /^20\S+ \S+Z +admin key +watched +endpoints\.create +422 invalid_endpoint +– +\{"url":"ftp:/,
    );
    expect(rows[1]).toMatch(
      new RegExp(`ann \\(${token.id}\\) +watched +endpoints.disable +200 +endpoint ${endpoint} +–$`),
    );
    expect(rows[2]).toMatch(
      new RegExp(
        `key ${key.id} +watched +endpoints.create +200 +created ${endpoint} +{.*"url":"https://a.ex`,
      ),
    );
    expect(rows.at(-1)).toMatch(/admin key +watched +tenants\.put +200 +– +{"name":"Watched"}/);
    const { json } = await posthorn`audit list ${of} --json`;
    expect(json.next_cursor).toBeNull();
    const actor = { kind: "admin", id: null, user: null };
    expect(json.data[0]).toMatchObject({ actor, error_code: "invalid_endpoint" });
    const filtered = async (...more: string[]) => (await posthorn`audit list ${of} --json ${more}`).json.data;
    const changes = { name: "Watched" };
    expect(await filtered("--action", "tenants.put")).toMatchObject([{ action: "tenants.put", changes }]);
    expect(await filtered("--since", "1h")).toEqual(json.data);
    expect(await filtered("--until", "1h")).toEqual([]);
  });

  test("a change that a server did not finish has an unknown result", async () => {
    await queryOnce(
      server.connectionString,
      `insert into posthorn.audit_log (actor_kind, tenant, action, target)
      values ('admin', 'interrupted', 'tenants.delete', '{"tenant":"interrupted"}')`,
    );
    const { out } = await posthorn`audit list --tenant interrupted`;
    expect(out).toMatch(/admin key +interrupted +tenants\.delete +unknown +– +–\n$/);
  });
});
