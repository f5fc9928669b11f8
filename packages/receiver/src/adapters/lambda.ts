// AWS Lambda behind API Gateway (REST and HTTP APIs), a function URL, or a load balancer.
import type { Receives } from "../model.ts";
import { goneBody } from "./gone-body.ts";
import {
  bodyOfEvent,
  headersOfEvent,
  type LambdaEvent,
  type LambdaResult,
  urlOfEvent,
} from "./lambda-event.ts";

export type { LambdaEvent, LambdaResult } from "./lambda-event.ts";

/** `export const handler = lambdaHandler(receiver)` */
export function lambdaHandler(receiver: Receives): (event: LambdaEvent) => Promise<LambdaResult> {
  return async (event) => {
    const answer = await receiver.receive({
      method: event.httpMethod ?? event.requestContext.http?.method ?? "GET",
      url: urlOfEvent(event),
      headers: headersOfEvent(event),
      body: bodyOfEvent(event) ?? goneBody(notRaw),
    });
    const many = Object.entries(answer.headers).map<[string, string[]]>(([name, value]) => [name, [value]]);
    return {
      statusCode: answer.status,
      headers: { ...answer.headers },
      ...(event.multiValueHeaders && { multiValueHeaders: Object.fromEntries(many) }),
      body: answer.body,
      isBase64Encoded: false,
    };
  };
}

const notRaw = {
  reason: "the event's body is no string, as after middy's httpJsonBodyParser()",
  fix: "Leave that middleware out for this function, and use the proxy integration of API Gateway.",
};
