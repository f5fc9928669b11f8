// Spans through the OpenTelemetry API package, if the application has it. The W3C text is stored in the database and
// sent on the wire, so that an attempt in another process joins the trace of its event.
import type { Logger } from "./log.ts";

/** The used part of `@opentelemetry/api`, described here so that its types are not required. */
export interface OpenTelemetryApi {
  readonly ROOT_CONTEXT: Context;
  readonly context: { active(): Context };
  readonly trace: {
    getTracer(name: string): Tracer;
    /** A proxy until an SDK is registered; then it has a tracer to delegate to. */
    getTracerProvider(): { getDelegateTracer?(name: string): unknown };
    getSpanContext(context: Context): SpanContext | undefined;
    setSpanContext(context: Context, spanContext: SpanContext & { isRemote?: boolean }): Context;
  };
}

interface Tracer {
  startSpan(name: string, options: { kind: number }, parent: Context): ApiSpan;
}

type Context = { readonly __context?: never };

interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
  readonly traceFlags: number;
}

interface ApiSpan {
  spanContext(): SpanContext;
  isRecording(): boolean;
  setAttributes(attributes: Attributes): unknown;
  setStatus(status: { code: number; message?: string }): unknown;
  end(): void;
}

type Attributes = Record<string, string | number | boolean>;

export const spanKinds = { internal: 0, client: 2, producer: 3 } as const;
const errorStatus = 2;
const tracerName = "posthorn";

export interface Span {
  /** The traceparent of this span, or of its parent if it is not sampled; undefined without either. */
  readonly traceparent: string | undefined;
  /** `error` is a short code. */
  end(attributes?: Attributes, error?: string): void;
}

export interface SpanOptions {
  readonly kind: (typeof spanKinds)[keyof typeof spanKinds];
  readonly parent: string | undefined;
  /** The active span at the call takes precedence as parent. */
  readonly joinsActive?: boolean;
  /** Called only if the span is recorded. */
  readonly attributes: () => Attributes;
}

export class Tracing {
  readonly #api: OpenTelemetryApi;
  readonly #tracer: Tracer;
  #hasSdk = false;

  constructor(api: OpenTelemetryApi) {
    this.#api = api;
    this.#tracer = api.trace.getTracer(tracerName);
  }

  /**
   * False while the application has registered no SDK, which it may do later: unrecorded spans cost microseconds each.
   * Called for every event, so it reads only two fields.
   */
  get isRecording(): boolean {
    if (this.#hasSdk) return true;
    const provider = this.#api.trace.getTracerProvider();
    this.#hasSdk =
      provider.getDelegateTracer === undefined || provider.getDelegateTracer(tracerName) !== undefined;
    return this.#hasSdk;
  }

  start(name: string, { kind, parent, joinsActive = false, attributes }: SpanOptions): Span {
    const span = this.#tracer.startSpan(name, { kind }, this.#contextOf(parent, joinsActive));
    if (span.isRecording()) span.setAttributes(attributes());
    const own = span.spanContext();
    return {
      traceparent: formatTraceparent(own) ?? parent,
      end: (more, error) => {
        if (more !== undefined) span.setAttributes(more);
        if (error !== undefined) span.setStatus({ code: errorStatus, message: error });
        span.end();
      },
    };
  }

  #contextOf(parent: string | undefined, joinsActive: boolean): Context {
    const { context, trace, ROOT_CONTEXT } = this.#api;
    if (joinsActive && trace.getSpanContext(context.active()) !== undefined) return context.active();
    const spanContext = parent === undefined ? null : parseTraceparent(parent);
    return spanContext === null
      ? ROOT_CONTEXT
      : trace.setSpanContext(ROOT_CONTEXT, { ...spanContext, isRemote: true });
  }
}

/** Returns null if the package is missing or cannot be loaded. */
export async function loadTracing(logger: Logger): Promise<Tracing | null> {
  try {
    return new Tracing((await import("@opentelemetry/api")) as unknown as OpenTelemetryApi);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    if (code !== "ERR_MODULE_NOT_FOUND")
      logger.warn("@opentelemetry/api cannot be loaded: there will be no spans", { error: message });
    return null;
  }
}

const noTrace = "0".repeat(32);

/** https://www.w3.org/TR/trace-context/#traceparent-header, of the version there is. */
const syntax = /^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$/;

export function isTraceparent(text: unknown): text is string {
  return typeof text === "string" && syntax.test(text);
}

function parseTraceparent(text: string): SpanContext | null {
  const [, traceId, spanId, flags] = syntax.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined || flags === undefined) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16) };
}

function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string | undefined {
  if (traceId === noTrace) return undefined;
  return `00-${traceId}-${spanId}-${(traceFlags & 0xff).toString(16).padStart(2, "0")}`;
}
