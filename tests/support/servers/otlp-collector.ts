// A collector for traces over OTLP/HTTP. It reads protobuf by the field numbers of opentelemetry-proto
// (collector/trace/v1, trace/v1, common/v1 and resource/v1), and JSON.
import { gunzipSync } from "node:zlib";
import { Signal } from "../eventually.ts";
import { listen } from "./http.ts";

export interface CollectedSpan {
  readonly service: string;
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  /** Empty for the first span of a trace. */
  readonly parentId: string;
  readonly attributes: Readonly<Record<string, string>>;
}

/** Listens until the test ends. */
export async function startCollector() {
  const spans: CollectedSpan[] = [];
  const contentTypes = new Set<string>();
  const signal = new Signal();
  const url = await listen((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      const body = Buffer.concat(parts);
      const bytes = request.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
      const type = request.headers["content-type"] ?? "";
      if (request.url === "/v1/traces") {
        contentTypes.add(type);
        spans.push(...(type === "application/json" ? fromJson(bytes) : fromProtobuf(bytes)));
      }
      // an empty ExportTraceServiceResponse, in both formats
      response.writeHead(200, { "content-type": type }).end(type === "application/json" ? "{}" : "");
      signal.notify();
    });
  });
  return {
    url,
    contentTypes,
    /** Resolves when this many spans have arrived, of the event with this id. */
    spansOf: (eventId: string, count: number): Promise<readonly CollectedSpan[]> => {
      const found = () => spans.filter(({ attributes }) => attributes["posthorn.event.id"] === eventId);
      return signal.until(
        () => `${count} spans of ${eventId} arrive: ${JSON.stringify(spans)}`,
        () => (found().length >= count ? found() : null),
      );
    },
  };
}

interface JsonAttribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string };
}

interface JsonSpan {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly attributes: readonly JsonAttribute[];
}

interface JsonRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly JsonAttribute[] };
    readonly scopeSpans: readonly { readonly spans: readonly JsonSpan[] }[];
  }[];
}

function fromJson(bytes: Buffer): CollectedSpan[] {
  const { resourceSpans } = JSON.parse(bytes.toString()) as JsonRequest;
  const textsOf = (attributes: readonly JsonAttribute[]) =>
    Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? ""]));
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map(({ name, traceId, spanId, parentSpanId = "", attributes }) => ({
        ...{ name, traceId, spanId, parentId: parentSpanId, attributes: textsOf(attributes) },
        service: textsOf(resource.attributes)["service.name"] ?? "",
      })),
  );
}

function fromProtobuf(bytes: Buffer): CollectedSpan[] {
  return fieldsOf(bytes, 1).flatMap((resourceSpans) => {
    const [resource = Buffer.alloc(0)] = fieldsOf(resourceSpans, 1);
    const service = attributesOf(resource, 1)["service.name"] ?? "";
    return fieldsOf(resourceSpans, 2)
      .flatMap((scopeSpans) => fieldsOf(scopeSpans, 2))
      .map((span) => {
        const text = (field: number, encoding: BufferEncoding): string =>
          fieldsOf(span, field)[0]?.toString(encoding) ?? "";
        return {
          ...{ service, name: text(5, "utf8"), attributes: attributesOf(span, 9) },
          ...{ traceId: text(1, "hex"), spanId: text(2, "hex"), parentId: text(4, "hex") },
        };
      });
  });
}

/** Only values that are text. */
function attributesOf(message: Buffer, field: number): Record<string, string> {
  const pairs = fieldsOf(message, field).map((pair) => {
    const [value = Buffer.alloc(0)] = fieldsOf(pair, 2);
    return [String(fieldsOf(pair, 1)[0]), String(fieldsOf(value, 1)[0] ?? "")];
  });
  return Object.fromEntries(pairs);
}

/** The contents of all fields of a message that have this number and a length. */
function fieldsOf(message: Buffer, wanted: number): Buffer[] {
  const found: Buffer[] = [];
  let at = 0;
  const varint = (): number => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = message[at++] as number;
      value += (byte & 127) * factor;
      if (byte < 128) return value;
    }
  };
  while (at < message.length) {
    const tag = varint();
    const wireType = tag & 7;
    if (wireType === 0) varint();
    else if (wireType === 1) at += 8;
    else if (wireType === 5) at += 4;
    else {
      const length = varint();
      if (tag >> 3 === wanted) found.push(message.subarray(at, at + length));
      at += length;
    }
  }
  return found;
}
