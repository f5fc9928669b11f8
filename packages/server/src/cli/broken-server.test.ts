// Every command against servers that lost their mind, or were never ours: one line that says so, and an end.
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { type CommandResult, runCommand } from "../../../../tests/support/run-command.ts";
import { MAX_EMPTY_PAGES } from "./remote/remote.ts";

/** A server that answers every request as it is told. */
async function serverThat(answer: (url: URL, response: ServerResponse) => void) {
  const asked: string[] = [];
  const http = createServer((request, response) => {
    asked.push(request.url ?? "");
    request.resume().on("end", () => answer(new URL(request.url ?? "/", "http://x"), response));
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const url = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const posthorn = (args: readonly string[]): Promise<CommandResult> =>
    runCommand(args, { env: { POSTHORN_URL: url, POSTHORN_API_KEY: "k" } });
  return { posthorn, asked };
}

const event = "evt_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10";
const commands = [
  ["publish", "order.paid", "--tenant", "acme"],
  ["trace", event],
  ["tail"],
  ["listen", "--forward-to", "http://127.0.0.1:1/"],
  ["stats"],
  ["events", "list"],
  ["events", "get", event],
  ["event-types", "list"],
  ["event-types", "get", "order.paid"],
  ["event-types", "put", "order.paid"],
  ["event-types", "import", "--data", "{}"],
  ["deliveries", "list"],
  ["deliveries", "get", "dlv_1"],
  ["deliveries", "retry-queue"],
  ["retry", "dlv_1"],
  ["replay", "start", "--yes"],
  ["replay", "list"],
  ["endpoints", "list", "--tenant", "acme"],
  ["endpoints", "get", "ep_1", "--tenant", "acme"],
  ["endpoints", "create", "https://a.example", "--tenant", "acme"],
  ["endpoints", "rotate-secret", "ep_1", "--tenant", "acme"],
  ["tenants", "list"],
  ["tenants", "put", "acme"],
  ["members", "list", "--tenant", "acme"],
  ["members", "token", "anna", "--tenant", "acme"],
  ["keys", "list"],
  ["keys", "create", "ci", "--scopes", "admin"],
  ["audit", "list"],
  ["api", "stats.get"],
];

const answers: [what: string, body: string, status?: number][] = [
  ["null", "null"],
  ["a number", "5"],
  ["an array", "[1]"],
  ["an empty object", "{}"],
  ["a page of what is no item", '{"data":[null],"next_cursor":null}'],
  ["a page that is no list", '{"data":{"length":1},"next_cursor":7}'],
  ["HTML", "<!doctype html><h1>Welcome</h1>"],
  ["nothing", ""],
  ["half of its JSON", '{"data":[{"id"'],
  ["a problem that is none", '{"detail":5}', 404],
];

test.each(answers)(
  "a server that answers %s is no server of ours, in one line",
  async (_what, body, status) => {
    const { posthorn } = await serverThat((_url, response) => response.writeHead(status ?? 200).end(body));
    for (const args of commands) {
      const words = await posthorn(args);
      expect([args, words.code, words.out]).toEqual([args, 4, ""]);
      expect(words.err).toMatch(/^Unexpected response \d+ .+\n$/);
      const json = await posthorn([...args, "--json"]);
      expect([args, json.code, json.out]).toEqual([args, 4, ""]);
      expect(JSON.parse(json.err).error).toMatchObject({ code: "unexpected_answer" });
    }
  },
);

test("an incomplete response counts as an unreachable server", async () => {
  const { posthorn } = await serverThat((_url, response) => {
    response.writeHead(200, { "content-length": 1000 }).write('{"data":[');
    setImmediate(() => response.destroy());
  });
  for (const args of commands) {
    const { code, err } = await posthorn(args);
    expect([args, code]).toEqual([args, 4]);
    expect(err).toMatch(/^The server at \S+ cannot be reached \(.+\n$/);
  }
});

const lists = commands.filter(([, verb]) => verb === "list" || verb === "retry-queue");

test("a page that links to itself is an error, also when following", async () => {
  const { posthorn, asked } = await serverThat((_url, response) =>
    response.end('{"data":[],"next_cursor":"again"}'),
  );
  expect(lists.length).toBeGreaterThan(5);
  for (const args of [...lists, ["tail"]]) {
    const { code, err } = await posthorn(args);
    expect([args, code]).toEqual([args, 4]);
    expect(err).toMatch(/a page was repeated\. Read the list again\.\n$/);
  }
  expect(asked.length).toBeLessThan(4 * lists.length);
});

test("an endless list of empty pages is stopped, with a cursor to continue", async () => {
  let page = 0;
  const { posthorn, asked } = await serverThat((_url, response) => {
    page += 1;
    response.end(`{"data":[],"next_cursor":"c${page}"}`);
  });
  const words = await posthorn(["events", "list"]);
  expect(words).toMatchObject({ code: 0, out: "No events found.\n" });
  expect(words.err).toContain(`Continue with --cursor c${MAX_EMPTY_PAGES}`);
  expect(asked).toHaveLength(MAX_EMPTY_PAGES);
  const { json } = await posthorn(["events", "list", "--json"]);
  expect(json).toEqual({ data: [], next_cursor: `c${2 * MAX_EMPTY_PAGES}` });
});

test("an endless list of full pages stops at --limit", async () => {
  const tenant = { id: "a", name: null, is_active: true, websub_topics: [], created_at: "", updated_at: "" };
  let page = 0;
  const { posthorn, asked } = await serverThat((_url, response) => {
    page += 1;
    response.end(JSON.stringify({ data: Array(250).fill(tenant), next_cursor: `c${page}` }));
  });
  const { code, json } = await posthorn(["tenants", "list", "--limit", "1000", "--json"]);
  expect([code, json.data.length, asked.length]).toEqual([0, 1000, 4]);
});

test("unknown enum values and fields of a later version are shown unchanged", async () => {
  const answer = {
    id: "a",
    name: null,
    is_active: true,
    websub_topics: [],
    created_at: "",
    updated_at: "",
    colour: "red",
  };
  const { posthorn } = await serverThat((url, response) =>
    response.end(
      JSON.stringify(
        url.pathname.endsWith("/members/anna")
          ? { tenant: "acme", user: "anna", role: "auditor", email: null, created_at: "", updated_at: "" }
          : answer,
      ),
    ),
  );
  expect((await posthorn(["tenants", "get", "a", "--json"])).json).toEqual(answer);
  expect((await posthorn(["members", "get", "anna", "--tenant", "acme"])).out).toContain("auditor");
});

test("the JSON of a rejected request contains the whole problem document", async () => {
  const problem = {
    type: "https://posthorn.dev/errors/invalid_body",
    title: "The body has missing, unknown or invalid fields.",
    status: 422,
    detail: "/url: This must be a string.",
    instance: "/api/v1/tenants/acme/endpoints",
    code: "invalid_body",
    errors: [{ pointer: "/url", message: "This must be a string." }],
    request_id: "req_1",
    results: [null],
  };
  const { posthorn } = await serverThat((_url, response) =>
    response.writeHead(422).end(JSON.stringify(problem)),
  );
  const args = ["endpoints", "create", "https://a.example", "--tenant", "acme"];
  const { code, err, out } = await posthorn([...args, "--json"]);
  expect([code, out]).toEqual([3, ""]);
  expect(JSON.parse(err)).toEqual({ error: { message: problem.detail, ...problem } });
  expect((await posthorn(args)).err).toBe(`${problem.detail}\n`);
});

test.each([
  [["tenants", "get", ".."]],
  [["endpoints", "list", "--tenant", "."]],
  [["api", "tenants.get", "tenant=.."]],
])("%j is a usage error, and no request is sent", async (args) => {
  const { posthorn, asked } = await serverThat((_url, response) => response.end("{}"));
  const { code, err } = await posthorn(args);
  expect([code, err.split("\n").length]).toEqual([2, 2]);
  expect(asked).toEqual([]);
});

test("messages of the server are printed on one line each", async () => {
  const { posthorn } = await serverThat((_url, response) => {
    const detail = "No.\nDone: 1 tenant deleted.";
    const errors = [{ pointer: "/name\n/fake", message: "Wrong.\r\n  /other: fine" }];
    const body = {
      type: "about:blank",
      title: "x",
      status: 422,
      detail,
      instance: "/",
      code: "invalid_body",
      errors,
    };
    response.writeHead(422, { "content-type": "application/problem+json" });
    response.end(JSON.stringify({ ...body, request_id: "r" }));
  });
  const { err } = await posthorn(["tenants", "list"]);
  expect(err.trimEnd().split("\n")).toEqual([
    "No.\ufffdDone: 1 tenant deleted.",
    "  /name\ufffd/fake: Wrong.\ufffd\ufffd  /other: fine",
  ]);
});
