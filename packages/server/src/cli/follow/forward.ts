// Sends a request to the URL from the command line. The address guard does not apply, because the user chose the URL.
import type { LocalRequest } from "./request.ts";

export type LocalResponse =
  | { readonly kind: "responded"; readonly status: number; readonly durationMs: number }
  /** Nothing listens at the URL. */
  | { readonly kind: "refused"; readonly error: string }
  /** It may have arrived. */
  | { readonly kind: "failed"; readonly error: string; readonly durationMs: number };

const TIMEOUT_MS = 30_000;

export async function forward(
  { url, headers, body }: LocalRequest,
  ending: AbortSignal,
): Promise<LocalResponse> {
  const startedAt = performance.now();
  const durationMs = (): number => Math.round(performance.now() - startedAt);
  try {
    const signal = AbortSignal.any([ending, AbortSignal.timeout(TIMEOUT_MS)]);
    const response = await fetch(url, {
      method: "POST",
      headers,
      body: new Uint8Array(body),
      redirect: "manual",
      signal,
    });
    await response.arrayBuffer();
    return { kind: "responded", status: response.status, durationMs: durationMs() };
  } catch (error) {
    const { code, message, name } = ((error as Error).cause ?? error) as Error & { code?: string };
    if (code === "ECONNREFUSED") return { kind: "refused", error: code };
    const text = name === "TimeoutError" ? `no response within ${TIMEOUT_MS / 1000} s` : code || message;
    return { kind: "failed", error: text, durationMs: durationMs() };
  }
}
