// The events by which Lambda receives a request. Four senders use two shapes: REST APIs (version 1.0) and load balancers
// have the method at the top level, HTTP APIs (version 2.0) and function URLs under `requestContext.http`.
import type { HeaderSource } from "@posthorn/wire";
import { readHeader } from "../headers.ts";

export interface LambdaEvent {
  readonly httpMethod?: string;
  readonly path?: string;
  readonly rawPath?: string;
  readonly rawQueryString?: string;
  readonly queryStringParameters?: Readonly<Record<string, string | undefined>> | null;
  readonly multiValueQueryStringParameters?: Readonly<Record<string, readonly string[] | undefined>> | null;
  readonly headers?: Readonly<Record<string, string | undefined>> | null;
  /** REST APIs always send it; load balancers instead of `headers`, if the target group is configured so. */
  readonly multiValueHeaders?: Readonly<Record<string, readonly string[] | undefined>> | null;
  readonly requestContext?: {
    readonly domainName?: string;
    /** Includes the stage, unlike `path`. */
    readonly path?: string;
    readonly http?: { readonly method: string };
    readonly elb?: object;
  };
  readonly body?: unknown;
  readonly isBase64Encoded?: boolean;
}

export interface LambdaResult {
  readonly statusCode: number;
  readonly headers: Record<string, string>;
  /** Set if the event had multi-value headers: such load balancers ignore `headers`. */
  readonly multiValueHeaders?: Record<string, string[]>;
  readonly body: string;
  readonly isBase64Encoded: false;
}

/** Null if the event is not a request, such as a queue message, a schedule or a warm-up. */
export function methodOfEvent(event: LambdaEvent): string | null {
  return event?.httpMethod ?? event?.requestContext?.http?.method ?? null;
}

export function headersOfEvent({ multiValueHeaders, headers }: LambdaEvent): HeaderSource {
  return multiValueHeaders ?? headers ?? {};
}

export function urlOfEvent(event: LambdaEvent): string {
  const { requestContext = {}, rawPath, rawQueryString } = event;
  const host = requestContext.domainName ?? readHeader(headersOfEvent(event), "host") ?? "localhost";
  if (rawPath !== undefined) return `https://${host}${rawPath}${rawQueryString ? `?${rawQueryString}` : ""}`;
  if (!requestContext.elb) return `https://${host}${requestContext.path ?? event.path}${queryOf(event)}`;
  // A load balancer overwrites this header, so it can be trusted.
  const scheme = readHeader(headersOfEvent(event), "x-forwarded-proto") ?? "https";
  return `${scheme}://${host}${event.path}${queryOf(event)}`;
}

/** REST APIs decode the query, so its original spelling is lost; load balancers pass it on unchanged. */
function queryOf(event: LambdaEvent): string {
  const many = Object.entries(event.multiValueQueryStringParameters ?? {});
  const single = Object.entries(event.queryStringParameters ?? {});
  const pairs = (many.length > 0 ? many : single).flatMap(([name, values]) =>
    [values ?? []].flat().map((value) => [name, value] as const),
  );
  if (pairs.length === 0) return "";
  const write = event.requestContext?.elb ? (text: string) => text : encodeURIComponent;
  return `?${pairs.map(([name, value]) => `${write(name)}=${write(value)}`).join("&")}`;
}

export type EventBody = Uint8Array | "parsed" | "not_base64";

export function bodyOfEvent({ body, isBase64Encoded = false }: LambdaEvent): EventBody {
  if (body === null || body === undefined) return new Uint8Array();
  if (typeof body !== "string") return "parsed";
  return isBase64Encoded ? bytesOfBase64(body) : new TextEncoder().encode(body);
}

function bytesOfBase64(text: string): EventBody {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return "not_base64";
  }
}
