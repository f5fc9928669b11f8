// The server exports traces as the OTEL_… variables say, without code: a real process, and a collector on loopback.
import { describe, expect, test } from "vitest";
import { isQuick } from "../support/matrix.ts";
import { type CollectedSpan, startCollector } from "../support/servers/otlp-collector.ts";
import { startReceiver } from "../support/servers/start-receiver.ts";
import { makeDataDir, posthorn } from "./posthorn-process.ts";
import { call, settings } from "./server-processes.ts";

const ready = /"message":"ready","url":"([^"]+)"/;

/** Starts a server that exports to a collector, publishes an event, and returns its spans by their names. */
async function tracesOf(env: Record<string, string>, args: readonly string[] = []) {
  const collector = await startCollector();
  const receiver = await startReceiver();
  const running = posthorn(makeDataDir(), ["serve", ...args], {
    ...settings,
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    ...env,
  });
  const [, url = ""] = await running.printed(ready);
  const api = `${url}/api/v1`;
  await call(`${api}/tenants/acme`, "PUT", {});
  const endpoint = { url: `${receiver.url}/hooks`, events: ["*"] };
  expect((await call(`${api}/tenants/acme/endpoints`, "POST", endpoint)).status).toBe(201);
  const { json } = await call(`${api}/events`, "POST", { tenant: "acme", type: "order.paid", data: 1 });
  await receiver.received(1);
  // the spans that are not exported yet are exported when it stops
  expect(await running.stop()).toBe(0);
  const spans = await collector.spansOf(json.id, 3);
  const { traceparent } = receiver.requests[0]?.headers ?? {};
  return { traceparent, spans: byName(spans), contentTypes: [...collector.contentTypes] };
}

/** A module hook of Node that hides a package, as if it were not installed. */
function withoutPackage(name: string): string {
  const error = `Object.assign(new Error("hidden"), { code: "ERR_MODULE_NOT_FOUND" })`;
  const hooks = `export async function resolve(specifier, context, next) {
    if (specifier === "${name}") throw ${error};
    return next(specifier, context);
  }`;
  const moduleOf = (text: string): string => `data:text/javascript,${encodeURIComponent(text)}`;
  return `--import ${moduleOf(`import { register } from "node:module"; register(${JSON.stringify(moduleOf(hooks))});`)}`;
}

const byName = (spans: readonly CollectedSpan[]): Record<string, CollectedSpan | undefined> =>
  Object.fromEntries(spans.map((span) => [span.name, span]));

describe("with the endpoint of a collector in the environment", () => {
  test("a trace leads from the publish to its attempt and the header of the request", async () => {
    const { spans, traceparent, contentTypes } = await tracesOf({});
    const { "posthorn publish": publish, "posthorn attempt": attempt, "posthorn settle": settle } = spans;
    expect(contentTypes).toEqual(["application/x-protobuf"]);
    expect(publish).toMatchObject({ service: "posthorn", parentId: "" });
    expect(attempt).toMatchObject({ traceId: publish?.traceId, parentId: publish?.spanId });
    expect(settle).toMatchObject({ traceId: publish?.traceId, parentId: attempt?.spanId });
    expect(attempt?.attributes["posthorn.outcome"]).toBe("success");
    expect(traceparent).toBe(`00-${attempt?.traceId}-${attempt?.spanId}-01`);
  });

  test.skipIf(isQuick)("every process exports, with the protocol and name of the variables", async () => {
    const env = { OTEL_EXPORTER_OTLP_PROTOCOL: "http/json", OTEL_SERVICE_NAME: "shop-webhooks" };
    const { spans, contentTypes } = await tracesOf(env, ["--processes", "2"]);
    expect(contentTypes).toEqual(["application/json"]);
    const { "posthorn publish": publish, "posthorn attempt": attempt } = spans;
    expect(attempt).toMatchObject({ service: "shop-webhooks", parentId: publish?.spanId });
  });

  test.skipIf(isQuick)("without the SDK the server runs and logs once what to install", async () => {
    const running = posthorn(makeDataDir(), ["serve", "--processes", "2"], {
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318",
      NODE_OPTIONS: withoutPackage("@opentelemetry/sdk-node"),
    });
    await running.printed(ready);
    expect(running.output().match(/No traces are exported: .*?true\./g)).toEqual([
      "No traces are exported: OTEL_EXPORTER_OTLP_ENDPOINT is set, but @opentelemetry/sdk-node is not installed. Run npm install @opentelemetry/sdk-node where @posthorn/server is installed, or set OTEL_SDK_DISABLED=true.",
    ]);
  });
});
