// A request as a command for a shell. Everything is quoted: what came from outside must not run.
import type { DeliveryRequest } from "@posthorn/client";

export function curlOf({
  method,
  url,
  headers,
  body,
}: Pick<DeliveryRequest, "method" | "url" | "headers" | "body">): string {
  const parts = [
    `curl -X ${method} ${quoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    `--data-binary ${quoted(body)}`,
  ];
  return parts.join(" \\\n  ");
}

/** For any POSIX shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
