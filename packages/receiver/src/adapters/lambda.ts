// AWS Lambda behind API Gateway (REST and HTTP APIs), a function URL, or a load balancer.
import type { RequestHandler } from "../model.ts";
import { consumedBody, failingBody } from "./consumed-body.ts";
import {
  bodyOfEvent,
  type EventBody,
  headersOfEvent,
  type LambdaEvent,
  type LambdaResult,
  methodOfEvent,
  urlOfEvent,
} from "./lambda-event.ts";

export type { LambdaEvent, LambdaResult } from "./lambda-event.ts";

/** `export const handler = lambdaHandler(receiver)` */
export function lambdaHandler(receiver: RequestHandler): (event: LambdaEvent) => Promise<LambdaResult> {
  return async (event) => {
    const method = methodOfEvent(event);
    if (method === null) throw new TypeError(NO_REQUEST);
    const result = await receiver.receive({
      method,
      url: urlOfEvent(event),
      headers: headersOfEvent(event),
      body: readable(bodyOfEvent(event)),
    });
    const many = Object.entries(result.headers).map<[string, string[]]>(([name, value]) => [name, [value]]);
    return {
      statusCode: result.status,
      headers: { ...result.headers },
      ...(event.multiValueHeaders && { multiValueHeaders: Object.fromEntries(many) }),
      body: result.body,
      isBase64Encoded: false,
    };
  };
}

/** Thrown, because a response would look like success. */
const NO_REQUEST =
  "lambdaHandler received an event that is not an HTTP request. Invoke the function through API Gateway, a function URL or a load balancer, and handle warm-up events before it.";

function readable(body: EventBody): Uint8Array | AsyncIterable<Uint8Array> {
  if (body === "parsed") return consumedBody(notRaw);
  // The receiver rejects it with 400.
  return body === "not_base64" ? failingBody(new TypeError(NOT_BASE64)) : body;
}

const NOT_BASE64 = "isBase64Encoded is set, but the body is not base64.";

const notRaw = {
  reason: "the event's body is not a string, for example because of middy's httpJsonBodyParser()",
  fix: "Remove that middleware from this function, and use the proxy integration of API Gateway.",
};
