// A sender that treats every 4xx except 408 and 429 as final, as many do, on a real connection.
import type { Delivery } from "./signed-delivery.ts";

export type Verdict = "delivered" | "retry" | "given up";

export function openStrictSender(url: string, { headers, body }: Delivery) {
  const send = (signal?: AbortSignal) =>
    fetch(url, { method: "POST", headers, body, ...(signal && { signal }) });
  return {
    /** Its time limit ends with the promise: it closes the connection and does not see the response. */
    async timeOut(limit: Promise<unknown>): Promise<Verdict> {
      const connection = new AbortController();
      const response = send(connection.signal).catch(() => {});
      await limit;
      connection.abort();
      await response;
      return "retry";
    },

    async attempt(): Promise<{ status: number; retryAfter: string | null; verdict: Verdict }> {
      const { status, headers } = await send();
      return { status, retryAfter: headers.get("retry-after"), verdict: verdictOn(status) };
    },
  };
}

function verdictOn(status: number): Verdict {
  if (status < 300) return "delivered";
  return status === 408 || status === 429 || status >= 500 ? "retry" : "given up";
}
