import { expect, test } from "vitest";
import { curlOf } from "./curl.ts";
import { readPastedRequest } from "./pasted-request.ts";

test("headers and body are separated by an empty line", () => {
  const text =
    'POST /hooks HTTP/1.1\r\nHost: example.com\r\nX-Webhook-Signature: t=1,v1=ab\r\n\r\n{"a": 1}\n';
  expect(readPastedRequest(text)).toEqual({
    headers: { host: "example.com", "x-webhook-signature": "t=1,v1=ab" },
    body: '{"a": 1}\n',
    method: "POST",
    url: "https://example.com/hooks",
  });
});

test("the output of curl -v is parsed without its markers", () => {
  expect(readPastedRequest("> POST / HTTP/1.1\n> webhook-id: evt_1\n\nbody")).toEqual({
    headers: { "webhook-id": "evt_1" },
    body: "body",
    method: "POST",
    url: undefined,
  });
});

test("a copied curl command gives the original request, whatever it contains", () => {
  const body = `{"note":"it's \\"quoted\\" $HOME \`x\` \\\\ ü"}`;
  const headers = { "x-webhook-id": "evt_1", "x-custom": "a: b'c" };
  const request = { method: "POST", url: "https://example.com/a?b=c'd", headers, body } as const;
  expect(readPastedRequest(curlOf(request))).toEqual(request);
});

test("curl expands nothing in a copied command: no ranges in the URL, no file as body", () => {
  const url = "https://example.com/[1-1000]?x={a,b}";
  const command = curlOf({ method: "POST", url, headers: {}, body: "@/etc/hostname" });
  expect(command).toBe(`curl -g -X POST '${url}' \\\n  --data-raw '@/etc/hostname'`);
});

test.each(["", "hello", "curl https://example.com"])("%j is not a request", (text) => {
  expect(readPastedRequest(text)).toBeNull();
});
