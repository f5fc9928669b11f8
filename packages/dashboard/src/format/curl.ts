// Formats a request as a curl command. All values are shell-quoted.
import type { DeliveryRequest } from "@posthorn/client";

export function curlOf({
  method,
  url,
  headers,
  body,
}: Pick<DeliveryRequest, "method" | "url" | "headers" | "body">): string {
  const parts = [
    // -g: no globbing of brackets and braces in the URL
    `curl -g -X ${method} ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    // not --data-binary, which reads a file if the value starts with @
    `--data-raw ${quoted(body)}`,
  ];
  return parts.join(" \\\n  ");
}

/** Quotes for POSIX shells. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
