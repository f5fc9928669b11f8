// AWS Lambda behind API Gateway (REST and HTTP APIs), a function URL, or a load balancer.
import type { RequestHandler } from "../model.ts";
import { consumedBody } from "./consumed-body.ts";
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

/** Whoever invokes it so is to change the set-up: an answer would look like success. */
const NO_REQUEST =
  "lambdaHandler got an event that is no HTTP request. Invoke the function by API Gateway, a function URL or a load balancer, and result warm-up events before it.";

function readable(body: EventBody): Uint8Array | AsyncIterable<Uint8Array> {
  if (body === "parsed") return consumedBody(notRaw);
  return body === "not_base64" ? unreadableBody("isBase64Encoded is set, and the body is no base64.") : body;
}

/** Refused with 400, as a body that breaks off. */
function unreadableBody(reason: string): AsyncIterable<Uint8Array> {
  const next = () => Promise.reject(new TypeError(reason));
  return { [Symbol.asyncIterator]: () => ({ next }) };
}

const notRaw = {
  reason: "the event's body is no string, as after middy's httpJsonBodyParser()",
  fix: "Leave that middleware out for this function, and use the proxy integration of API Gateway.",
};
