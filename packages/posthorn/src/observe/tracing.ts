// Spans, through OpenTelemetry's API package where the application has it; without it nothing here is loaded. What
// travels through the database and over the wire is the W3C text, so that an attempt hours later, in another process,
// joins the trace its event was published in.
import type { Logger } from "./log.ts";

/** The part of `@opentelemetry/api` that is used, described here so that nobody has to have its types. */
export interface OpenTelemetryApi {
  readonly ROOT_CONTEXT: Context;
  readonly context: { active(): Context };
  readonly trace: {
    getTracer(name: string): Tracer;
    /** A stand-in until an SDK is set up; it then has a tracer of the SDK's to give. */
    getTracerProvider(): { getDelegateTracer?(name: string): unknown };
    getSpanContext(context: Context): SpanContext | undefined;
    setSpanContext(context: Context, spanContext: SpanContext & { isRemote?: boolean }): Context;
  };
}

interface Tracer {
  startSpan(name: string, options: { kind: number }, parent: Context): ApiSpan;
}

/** Opaque to us. */
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
  /** What to hand on: of this span, or of its parent where the sampler made none; undefined without either. */
  readonly traceparent: string | undefined;
  /** `error` in a word or two; an attempt that failed, say. */
  end(attributes?: Attributes, error?: string): void;
}

export interface SpanOptions {
  readonly kind: (typeof spanKinds)[keyof typeof spanKinds];
  readonly parent: string | undefined;
  /** A span that is active where this is called is the parent before any other. */
  readonly joinsActive?: boolean;
  /** Asked only where somebody records. */
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
   * False while the application has set up no SDK, which it may do later than we are made: spans for nobody cost
   * microseconds each. Asked for every event, so it is a look at two fields.
   */
  get isHeard(): boolean {
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

/** Null when the application does not have the package, or has one that cannot be loaded. */
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
