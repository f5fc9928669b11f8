// Exports spans as the standard OTEL_… variables say, with the OpenTelemetry SDK, which is an optional package. It is
// loaded only if one of these variables is set.
import type { Logger } from "posthorn";
import { loadTracing } from "posthorn/internal";
import type { Environment } from "./config.ts";
import { withinMs } from "./within-ms.ts";

export interface Telemetry {
  /** Exports what is left, for as long as the grace period and the collector allow. */
  stop(graceMs: number): Promise<void>;
}

/** Enough for a collector that responds; one that does not must not delay the end of the process. */
const FLUSH_MS = 3_000;

/** Logs what to install if a variable asks for traces. Not for each process of a server, so that it is logged once. */
export function warnOfMissingPackages(env: Environment, logger: Logger): void {
  const variable = wantingTraces(env);
  const missing = variable === null ? [] : missingPackages();
  if (missing.length === 0) return;
  const names = missing.join(" and ");
  logger.warn(
    `No traces are exported: ${variable} is set, but ${names} ${missing.length === 1 ? "is" : "are"} not installed. Run npm install ${missing.join(" ")} where @posthorn/server is installed, or set OTEL_SDK_DISABLED=true.`,
  );
}

/** Returns null if no variable asks for traces, if a package is missing, or if the program has set up its own SDK. */
export async function startTelemetry(env: Environment, logger: Logger): Promise<Telemetry | null> {
  const variable = wantingTraces(env);
  if (variable === null || missingPackages().length > 0) return null;
  const api = await import("@opentelemetry/api");
  const sdk = await import("@opentelemetry/sdk-node");
  // registered by a file of --import, which knows more than the variables
  if ((await loadTracing(logger))?.isRecording) return null;
  reportFailures(api, env, logger);
  const started = new sdk.NodeSDK(hasServiceName(env) ? {} : { serviceName: "posthorn" });
  started.start();
  logger.info("traces are exported by OpenTelemetry", { variable });
  return {
    stop: (graceMs) =>
      withinMs(
        Math.min(graceMs, FLUSH_MS),
        started.shutdown().catch(() => {}),
      ),
  };
}

/** Returns the variable that asks for traces. */
function wantingTraces(env: Environment): string | null {
  const exporter = env.OTEL_TRACES_EXPORTER?.trim();
  if (env.OTEL_SDK_DISABLED?.trim().toLowerCase() === "true" || exporter === "none") return null;
  if (exporter) return "OTEL_TRACES_EXPORTER";
  return ENDPOINTS.find((name) => env[name]) ?? null;
}

const ENDPOINTS = ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT"];

function hasServiceName({ OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES }: Environment): boolean {
  return Boolean(OTEL_SERVICE_NAME) || /(?:^|,)\s*service\.name=/.test(OTEL_RESOURCE_ATTRIBUTES ?? "");
}

/** Finds them without loading them: the SDK is large. */
function missingPackages(): string[] {
  return ["@opentelemetry/api", "@opentelemetry/sdk-node"].filter((name) => {
    try {
      import.meta.resolve(name);
      return false;
    } catch {
      return true;
    }
  });
}

/** The SDK reports failed exports nowhere by default. OTEL_LOG_LEVEL replaces this by its own output. */
function reportFailures(
  { diag, DiagLogLevel }: typeof import("@opentelemetry/api"),
  env: Environment,
  logger: Logger,
) {
  if (env.OTEL_LOG_LEVEL) return;
  const ignore = (): void => {};
  const report = (...parts: unknown[]): void => logger.warn("OpenTelemetry", { error: failureText(parts) });
  diag.setLogger(
    { error: report, warn: report, info: ignore, debug: ignore, verbose: ignore },
    DiagLogLevel.WARN,
  );
}

/** The message of what the SDK reports: a component's name comes first, and a failed export is an error as JSON. */
export function failureText(parts: readonly unknown[]): string {
  const texts = parts.map(textOf).filter((text) => text !== null);
  return texts.join(": ").slice(0, 500);
}

function textOf(part: unknown): string | null {
  if (part instanceof Error) return part.message;
  if (typeof part !== "string") return null;
  try {
    const { message } = JSON.parse(part);
    return typeof message === "string" ? message : part;
  } catch {
    return part;
  }
}
