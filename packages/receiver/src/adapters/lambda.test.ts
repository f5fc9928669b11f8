// The events have the shapes of AWS's documentation: API Gateway payload formats 1.0 and 2.0, function URLs (2.0 as
// well), and load balancers without and with multi-value headers.
import { generateSecret } from "@posthorn/wire";
import { beforeEach, describe, expect, it } from "vitest";
import { MAX_BODY_BYTES, RecordingReceiver } from "../../../../tests/support/receiver/recording-receiver.ts";
import { BodyNotRaw } from "../errors.ts";
import { readHeader } from "../headers.ts";
import { createReceiver } from "../receiver.ts";
import { posthorn } from "../sources/posthorn.ts";
import { memoryStore } from "../stores/memory/memory-store.ts";
import { type LambdaEvent, lambdaHandler } from "./lambda.ts";

const BODY = '{"n":1.0,  "name":"Zoë"}';
const BYTES = new Uint8Array([0xef, 0xbb, 0xbf, 0x00, 0xff, 0xfe, 0xc3, 0x28]);

const restApi: LambdaEvent & Record<string, unknown> = {
  version: "1.0",
  resource: "/webhooks",
  path: "/webhooks",
  httpMethod: "POST",
  headers: { "Content-Type": "application/json", "Webhook-Id": "two" },
  multiValueHeaders: { "Content-Type": ["application/json"], "Webhook-Id": ["one", "two"] },
  queryStringParameters: { a: "2", "b c": "ü" },
  multiValueQueryStringParameters: { a: ["1", "2"], "b c": ["ü"] },
  requestContext: {
    accountId: "123456789012",
    domainName: "id.execute-api.us-east-1.amazonaws.com",
    httpMethod: "POST",
    path: "/prod/webhooks",
    protocol: "HTTP/1.1",
    stage: "prod",
  } as NonNullable<LambdaEvent["requestContext"]>,
  pathParameters: null,
  stageVariables: null,
  body: BODY,
  isBase64Encoded: false,
};

const httpApi: LambdaEvent & Record<string, unknown> = {
  version: "2.0",
  routeKey: "$default",
  rawPath: "/prod/webhooks",
  rawQueryString: "a=1&a=%7E&b",
  cookies: [],
  headers: { "content-type": "application/json", "webhook-id": "one,two" },
  queryStringParameters: { a: "1,~", b: "" },
  requestContext: {
    accountId: "123456789012",
    apiId: "api-id",
    domainName: "id.execute-api.us-east-1.amazonaws.com",
    http: {
      method: "POST",
      path: "/prod/webhooks",
      protocol: "HTTP/1.1",
      sourceIp: "192.0.2.1",
      userAgent: "",
    },
    stage: "prod",
  } as NonNullable<LambdaEvent["requestContext"]>,
  body: BODY,
  isBase64Encoded: false,
};

const functionUrl: LambdaEvent & Record<string, unknown> = {
  ...httpApi,
  rawPath: "/webhooks",
  rawQueryString: "",
  headers: { ...httpApi.headers, "x-forwarded-proto": "https" },
  requestContext: {
    ...httpApi.requestContext,
    domainName: "url-id.lambda-url.us-west-2.on.aws",
  },
};

const loadBalancer: LambdaEvent & Record<string, unknown> = {
  requestContext: {
    elb: { targetGroupArn: "arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/lambda/1" },
  },
  httpMethod: "POST",
  path: "/webhooks",
  queryStringParameters: { a: "%7E", b: "" },
  headers: {
    "content-type": "application/json",
    host: "lb.example.com",
    "webhook-id": "two",
    "x-forwarded-proto": "https",
  },
  body: BODY,
  isBase64Encoded: false,
};

const { headers: _single, queryStringParameters: _one, ...withoutSingles } = loadBalancer;
const loadBalancerMultiValue: LambdaEvent & Record<string, unknown> = {
  ...withoutSingles,
  multiValueQueryStringParameters: { a: ["1", "%7E"] },
  multiValueHeaders: {
    "content-type": ["application/json"],
    host: ["lb.example.com"],
    "webhook-id": ["one", "two"],
    "x-forwarded-proto": ["http"],
  },
};

const shapes: [string, LambdaEvent, { url: string; id: string }][] = [
  [
    "a REST API",
    restApi,
    {
      url: "https://id.execute-api.us-east-1.amazonaws.com/prod/webhooks?a=1&a=2&b%20c=%C3%BC",
      id: "one, two",
    },
  ],
  [
    "an HTTP API",
    httpApi,
    { url: "https://id.execute-api.us-east-1.amazonaws.com/prod/webhooks?a=1&a=%7E&b", id: "one,two" },
  ],
  [
    "a function URL",
    functionUrl,
    { url: "https://url-id.lambda-url.us-west-2.on.aws/webhooks", id: "one,two" },
  ],
  ["a load balancer", loadBalancer, { url: "https://lb.example.com/webhooks?a=%7E&b=", id: "two" }],
  [
    "a load balancer with multi-value headers",
    loadBalancerMultiValue,
    { url: "http://lb.example.com/webhooks?a=1&a=%7E", id: "one, two" },
  ],
];

describe.each(shapes)("lambdaHandler behind %s", (_name, event, { url, id }) => {
  let receiver: RecordingReceiver;
  let handle: ReturnType<typeof lambdaHandler>;

  beforeEach(() => {
    receiver = new RecordingReceiver();
    handle = lambdaHandler(receiver);
  });

  it("hands on method, URL, headers and text", async () => {
    expect((await handle(event)).statusCode).toBe(200);
    const [seen] = receiver.requests;
    expect(seen).toMatchObject({ method: "POST", url });
    expect(readHeader(seen?.headers ?? {}, "webhook-id")).toBe(id);
    expect(readHeader(seen?.headers ?? {}, "content-type")).toBe("application/json");
    expect(seen?.body.toString()).toBe(BODY);
  });

  it("hands on bytes that came as base64", async () => {
    await handle({ ...event, body: Buffer.from(BYTES).toString("base64"), isBase64Encoded: true });
    expect(receiver.requests[0]?.body.equals(BYTES)).toBe(true);
  });

  it.each([null, undefined, ""])("takes the body %j for an empty one", async (body) => {
    expect((await handle({ ...event, body })).statusCode).toBe(200);
    expect(receiver.requests[0]?.body).toHaveLength(0);
  });

  it("counts bytes, not characters, against the limit", async () => {
    expect((await handle({ ...event, body: "x".repeat(MAX_BODY_BYTES) })).statusCode).toBe(200);
    expect((await handle({ ...event, body: `${"x".repeat(MAX_BODY_BYTES - 1)}ü` })).statusCode).toBe(413);
  });

  it("passes on the result, with many values where there were many", async () => {
    receiver.answer = { status: 409, headers: { "retry-after": "7" }, body: '{"e":1}' };
    const result = await handle(event);
    expect(result).toMatchObject({ statusCode: 409, headers: { "retry-after": "7" }, body: '{"e":1}' });
    expect(result.isBase64Encoded).toBe(false);
    expect(result.multiValueHeaders).toEqual(event.multiValueHeaders && { "retry-after": ["7"] });
  });

  it("lets the receiver refuse with 400 what should be base64 and is not", async () => {
    const real = createReceiver({
      sources: [{ ...posthorn({ secrets: [generateSecret()] }), matches: () => true }],
      store: memoryStore(),
      onRejected: null,
    });
    const result = await lambdaHandler(real)({ ...event, body: "%%%", isBase64Encoded: true });
    expect(result.statusCode).toBe(400);
  });

  it("answers 500 when a middleware parsed the body, and says so", async () => {
    expect((await handle({ ...event, body: { n: 1 } })).statusCode).toBe(500);
    expect(receiver.failures[0]).toBeInstanceOf(BodyNotRaw);
    expect(String(receiver.failures[0])).toContain("httpJsonBodyParser()");
  });
});

it("lets the receiver refuse other methods", async () => {
  const handle = lambdaHandler(new RecordingReceiver());
  expect((await handle({ ...restApi, httpMethod: "GET" })).statusCode).toBe(405);
  const http = { method: "GET" };
  const requestContext = { ...httpApi.requestContext, http };
  expect((await handle({ ...httpApi, requestContext })).statusCode).toBe(405);
});

it.each([{}, { foo: 1 }, { Records: [] }, { requestContext: {} }, null, undefined, "warm"])(
  "rejects %j, which is not a request, and names what should invoke it",
  async (event) => {
    const receiver = new RecordingReceiver();
    const invoked = lambdaHandler(receiver)(event as LambdaEvent);
    await expect(invoked).rejects.toThrow(TypeError);
    await expect(invoked).rejects.toThrow(
      "Invoke the function through API Gateway, a function URL or a load bal",
    );
    expect(receiver.requests).toEqual([]);
  },
);
