// A request as a command for a shell. Everything is quoted: what came from outside must not run.
import type { DeliveryRequest } from "@posthorn/client";

export function curlOf({
  method,
  url,
  headers,
  body,
}: Pick<DeliveryRequest, "method" | "url" | "headers" | "body">): string {
  const parts = [
    // -g: brackets and braces in a URL are no ranges, each of which would be a request
    `curl -g -X ${method} ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    // not --data-binary: that takes what begins with @ for a file to send
    `--data-raw ${quoted(body)}`,
  ];
  return parts.join(" \\\n  ");
}

/** For any POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
