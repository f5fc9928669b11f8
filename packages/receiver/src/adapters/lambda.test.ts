// The events have the shapes of AWS's documentation: API Gateway payload formats 1.0 and 2.0, function URLs (2.0 as
// well), and load balancers without and with multi-value headers.
import { beforeEach, describe, expect, it } from "vitest";
import { RecordingReceiver } from "../../../../tests/support/receiver/recording-receiver.ts";
import { BodyNotRaw } from "../errors.ts";
import { readHeader } from "../headers.ts";
import { type LambdaEvent, lambdaHandler } from "./lambda.ts";

const BODY = '{"n":1.0,  "name":"Zoë"}';
const BYTES = new Uint8Array([0xef, 0xbb, 0xbf, 0x00, 0xff, 0xfe, 0xc3, 0x28]);

const domainName = "id.execute-api.us-east-1.amazonaws.com";
const text = { body: BODY, isBase64Encoded: false };

const restApi = {
  ...text,
  version: "1.0",
  path: "/webhooks",
  httpMethod: "POST",
  headers: { "Content-Type": "application/json", "Webhook-Id": "two" },
  multiValueHeaders: { "Content-Type": ["application/json"], "Webhook-Id": ["one", "two"] },
  queryStringParameters: { a: "2", "b c": "ü" },
  multiValueQueryStringParameters: { a: ["1", "2"], "b c": ["ü"] },
  requestContext: { domainName, httpMethod: "POST", path: "/prod/webhooks" },
};

const httpApi = {
  ...text,
  version: "2.0",
  rawPath: "/prod/webhooks",
  rawQueryString: "a=1&a=%7E&b",
  headers: { "content-type": "application/json", "webhook-id": "one,two" },
  queryStringParameters: { a: "1,~", b: "" },
  requestContext: { domainName, http: { method: "POST", path: "/prod/webhooks", sourceIp: "192.0.2.1" } },
};

const functionUrl = {
  ...httpApi,
  rawPath: "/webhooks",
  rawQueryString: "",
  headers: { ...httpApi.headers, "x-forwarded-proto": "https" },
  requestContext: { ...httpApi.requestContext, domainName: "url-id.lambda-url.us-west-2.on.aws" },
};

const balanced = {
  ...text,
  requestContext: {
    elb: { targetGroupArn: "arn:aws:elasticloadbalancing:us-east-2:123456789012:targetgroup/lambda/1" },
  },
  httpMethod: "POST",
  path: "/webhooks",
};
const loadBalancer = {
  ...balanced,
  queryStringParameters: { a: "%7E", b: "" },
  headers: {
    "content-type": "application/json",
    host: "lb.example.com",
    "webhook-id": "two",
    "x-forwarded-proto": "https",
  },
};
const loadBalancerMultiValue = {
  ...balanced,
  multiValueQueryStringParameters: { a: ["1", "%7E"] },
  multiValueHeaders: {
    "content-type": ["application/json"],
    host: ["lb.example.com"],
    "webhook-id": ["one", "two"],
    "x-forwarded-proto": ["http"],
  },
};

const shapes: [name: string, event: LambdaEvent, url: string, id: string][] = [
  ["a REST API", restApi, `https://${domainName}/prod/webhooks?a=1&a=2&b%20c=%C3%BC`, "one, two"],
  ["an HTTP API", httpApi, `https://${domainName}/prod/webhooks?a=1&a=%7E&b`, "one,two"],
  ["a function URL", functionUrl, "https://url-id.lambda-url.us-west-2.on.aws/webhooks", "one,two"],
  ["a load balancer", loadBalancer, "https://lb.example.com/webhooks?a=%7E&b=", "two"],
  [
    "a load balancer with multi-value headers",
    loadBalancerMultiValue,
    "http://lb.example.com/webhooks?a=1&a=%7E",
    "one, two",
  ],
];

describe.each(shapes)("lambdaHandler behind %s", (_name, event, url, id) => {
  let receiver: RecordingReceiver;
  let handle: ReturnType<typeof lambdaHandler>;

  beforeEach(() => {
    receiver = new RecordingReceiver();
    handle = lambdaHandler(receiver);
  });

  it("passes method, URL, headers and text", async () => {
    expect((await handle(event)).statusCode).toBe(200);
    const [seen] = receiver.requests;
    expect(seen).toMatchObject({ method: "POST", url });
    expect(readHeader(seen?.headers ?? {}, "webhook-id")).toBe(id);
    expect(readHeader(seen?.headers ?? {}, "content-type")).toBe("application/json");
    expect(seen?.body.toString()).toBe(BODY);
  });

  it("passes bytes that arrived as base64", async () => {
    await handle({ ...event, body: Buffer.from(BYTES).toString("base64"), isBase64Encoded: true });
    expect(receiver.requests[0]?.body.equals(BYTES)).toBe(true);
  });

  it.each([null, undefined, ""])("treats the body %j as empty", async (body) => {
    expect((await handle({ ...event, body })).statusCode).toBe(200);
    expect(receiver.requests[0]?.body).toHaveLength(0);
  });

  it("returns the response, with repeated headers", async () => {
    receiver.response = { status: 409, headers: { "retry-after": "7" }, body: '{"e":1}' };
    const result = await handle(event);
    expect(result).toMatchObject({ statusCode: 409, headers: { "retry-after": "7" }, body: '{"e":1}' });
    expect(result.isBase64Encoded).toBe(false);
    expect(result.multiValueHeaders).toEqual(event.multiValueHeaders && { "retry-after": ["7"] });
  });

  it("a body that should be base64 and is not is rejected with 400", async () => {
    const result = await handle({ ...event, body: "%%%", isBase64Encoded: true });
    expect([result.statusCode, receiver.failures]).toMatchObject([400, [{ name: "TypeError" }]]);
  });

  it("responds with 500 if a middleware parsed the body, and the error says so", async () => {
    expect((await handle({ ...event, body: { n: 1 } })).statusCode).toBe(500);
    expect(receiver.failures[0]).toBeInstanceOf(BodyNotRaw);
    expect(String(receiver.failures[0])).toContain("httpJsonBodyParser()");
  });
});

it("passes other methods to the receiver, which rejects them", async () => {
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
