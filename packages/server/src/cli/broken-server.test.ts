// Every command against servers that return something unexpected: it ends with a one-line error.
import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import { listen } from "../../../../tests/support/servers/http.ts";
import { argv, commandsIn } from "../../../../tests/support/servers/run-command.ts";
import { MAX_EMPTY_PAGES } from "./remote/remote.ts";

/** A server that responds to every request with `respond`. */
async function serverThat(respond: (url: URL, response: ServerResponse) => void) {
  const requested: string[] = [];
  const url = await listen((request, response) => {
    requested.push(request.url ?? "");
    request.resume().on("end", () => respond(new URL(request.url ?? "/", "http://x"), response));
  });
  return { posthorn: commandsIn(() => ({ POSTHORN_URL: url, POSTHORN_API_KEY: "k" })), requested };
}

const event = "evt_0197a3c2-7d1e-7c43-9a51-2f6f6f1b8e10";
const commands = [
  argv`publish order.paid --tenant acme`,
  argv`trace ${event}`,
  argv`tail`,
  argv`listen --forward-to http://127.0.0.1:1/`,
  argv`stats`,
  argv`events list`,
  argv`events get ${event}`,
  argv`event-types list`,
  argv`event-types get order.paid`,
  argv`event-types put order.paid`,
  argv`event-types import --data {}`,
  argv`deliveries list`,
  argv`deliveries get dlv_1`,
  argv`deliveries retry-queue`,
  argv`retry dlv_1`,
  argv`replay start --yes`,
  argv`replay list`,
  argv`endpoints list --tenant acme`,
  argv`endpoints get ep_1 --tenant acme`,
  argv`endpoints create https://a.example --tenant acme`,
  argv`endpoints rotate-secret ep_1 --tenant acme`,
  argv`tenants list`,
  argv`tenants put acme`,
  argv`members list --tenant acme`,
  argv`members token anna --tenant acme`,
  argv`keys list`,
  argv`keys create ci --scopes admin`,
  argv`audit list`,
  argv`api stats.get`,
];

const responses: [what: string, body: string, status?: number][] = [
  ["null", "null"],
  ["a number", "5"],
  ["an array", "[1]"],
  ["an empty object", "{}"],
  ["a page of invalid items", '{"data":[null],"next_cursor":null}'],
  ["a page that is no list", '{"data":{"length":1},"next_cursor":7}'],
  ["HTML", "<!doctype html><h1>Welcome</h1>"],
  ["nothing", ""],
  ["half of its JSON", '{"data":[{"id"'],
  ["an invalid problem document", '{"detail":5}', 404],
];

test.each(responses)("a response of %s is an error in one line", async (_what, body, status) => {
  const { posthorn } = await serverThat((_url, response) => response.writeHead(status ?? 200).end(body));
  for (const args of commands) {
    const err = expect.stringMatching(/^Unexpected response \d+ .+\n$/);
    expect([args, await posthorn`${args}`]).toMatchObject([args, { code: 4, out: "", err }]);
    const json = await posthorn`${args} --json`;
    expect([args, json]).toMatchObject([args, { code: 4, out: "" }]);
    expect(JSON.parse(json.err).error).toMatchObject({ code: "unexpected_response" });
  }
});

test("an incomplete response counts as an unreachable server", async () => {
  const { posthorn } = await serverThat((_url, response) => {
    response.writeHead(200, { "content-length": 1000 }).write('{"data":[');
    setImmediate(() => response.destroy());
  });
  for (const args of commands) {
    const err = expect.stringMatching(/^The server at \S+ cannot be reached \(.+\n$/);
    expect([args, await posthorn`${args}`]).toMatchObject([args, { code: 4, err }]);
  }
});

test("an unreachable server gives exit code 4, also with --json", async () => {
  const posthorn = commandsIn(() => ({ POSTHORN_URL: "http://127.0.0.1:1", POSTHORN_API_KEY: "k" }));
  const { code, out, err } = await posthorn`events list`;
  expect([code, out]).toEqual([4, ""]);
  expect(err).toMatch(/^The server at http:\/\/127\.0\.0\.1:1 cannot be reached \(.+\)\. Check that it is /);
  const error = { code: "unreachable", message: err.trim() };
  expect(JSON.parse((await posthorn`events list --json`).err)).toEqual({ error });
});

const lists = commands.filter(([, verb]) => verb === "list" || verb === "retry-queue");

test("a page that links to itself is an error, also when following", async () => {
  const { posthorn, requested } = await serverThat((_url, response) =>
    response.end('{"data":[],"next_cursor":"again"}'),
  );
  expect(lists.length).toBeGreaterThan(5);
  for (const args of [...lists, ["tail"]]) {
    const err = expect.stringMatching(/a page was repeated\. Read the list again\.\n$/);
    expect([args, await posthorn`${args}`]).toMatchObject([args, { code: 4, err }]);
  }
  expect(requested.length).toBeLessThan(4 * lists.length);
});

test("an endless list of empty pages is stopped, with a cursor to continue", async () => {
  let page = 0;
  const { posthorn, requested } = await serverThat((_url, response) => {
    page += 1;
    response.end(`{"data":[],"next_cursor":"c${page}"}`);
  });
  const err = expect.stringContaining(`Continue with --cursor c${MAX_EMPTY_PAGES}`);
  expect(await posthorn`events list`).toMatchObject({ code: 0, out: "No events found.\n", err });
  expect(requested).toHaveLength(MAX_EMPTY_PAGES);
  const { json } = await posthorn`events list --json`;
  expect(json).toEqual({ data: [], next_cursor: `c${2 * MAX_EMPTY_PAGES}` });
});

test("unknown enum values and fields of a later version are shown unchanged", async () => {
  const times = { created_at: "", updated_at: "" };
  const tenant = { id: "a", name: null, is_active: true, websub_topics: [], ...times, colour: "red" };
  const member = { tenant: "acme", user: "anna", role: "auditor", email: null, ...times };
  const { posthorn } = await serverThat((url, response) =>
    response.end(JSON.stringify(url.pathname.endsWith("/members/anna") ? member : tenant)),
  );
  expect((await posthorn`tenants get a --json`).json).toEqual(tenant);
  expect((await posthorn`members get anna --tenant acme`).out).toContain("auditor");
});

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

test("the JSON of a rejected request contains the whole problem document", async () => {
  const { posthorn } = await serverThat((_url, response) =>
    response.writeHead(422).end(JSON.stringify(problem)),
  );
  const args = argv`endpoints create https://a.example --tenant acme`;
  const { code, err, out } = await posthorn`${args} --json`;
  expect([code, out]).toEqual([3, ""]);
  expect(JSON.parse(err)).toEqual({ error: { message: problem.detail, ...problem } });
  expect((await posthorn`${args}`).err).toBe(`${problem.detail}\n`);
});

test("messages of the server are printed on one line each", async () => {
  const detail = "No.\nDone: 1 tenant deleted.";
  const errors = [{ pointer: "/name\n/fake", message: "Wrong.\r\n  /other: fine" }];
  const { posthorn } = await serverThat((_url, response) =>
    response.writeHead(422).end(JSON.stringify({ ...problem, detail, errors })),
  );
  expect((await posthorn`tenants list`).err.trimEnd().split("\n")).toEqual([
    "No.\ufffdDone: 1 tenant deleted.",
    "  /name\ufffd/fake: Wrong.\ufffd\ufffd  /other: fine",
  ]);
});
