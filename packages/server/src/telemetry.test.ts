import { expect, test } from "vitest";
import { failureText, startTelemetry } from "./telemetry.ts";

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" };

test.each([
  {},
  { OTEL_SERVICE_NAME: "shop", OTEL_EXPORTER_OTLP_ENDPOINT: "" },
  { ...endpoint, OTEL_SDK_DISABLED: "TRUE" },
  { ...endpoint, OTEL_TRACES_EXPORTER: "none" },
])("with %j nothing is exported, loaded or logged", async (env) => {
  const fail = (): never => {
    throw new Error("logged");
  };
  expect(await startTelemetry(env, { debug: fail, info: fail, warn: fail, error: fail })).toBe(null);
});

test("a failed export is logged with its reason, without a stack", () => {
  const refused = JSON.stringify({ stack: "Error: …", message: "connect ECONNREFUSED 127.0.0.1:4318" });
  expect(failureText([refused])).toBe("connect ECONNREFUSED 127.0.0.1:4318");
  expect(failureText(["OTLPExportDelegate", "Not deserialized", new Error("Unknown wire type"), {}])).toBe(
    "OTLPExportDelegate: Not deserialized: Unknown wire type",
  );
});
