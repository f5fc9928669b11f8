// The subscriber's requests, on Fetch only, with limits on time and size.

/** The used part of `fetch`. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface HttpOptions {
  readonly fetch: Fetch;
  readonly timeoutMs: number;
}

/** The time limit includes the body. */
export async function request(url: string, init: RequestInit, options: HttpOptions): Promise<Response> {
  try {
    return await options.fetch(url, { ...init, signal: AbortSignal.timeout(options.timeoutMs) });
  } catch (error) {
    throw new Error(`The request to ${url} failed: ${reasonOf(error)}`, { cause: error });
  }
}

/** The first bytes as text. URLs are ASCII, so other encodings than UTF-8 do no harm. */
export async function readUpTo({ body }: Response, maxBytes: number): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let left = maxBytes;
  while (reader !== undefined && left > 0) {
    const { value } = await reader.read();
    if (value === undefined) break;
    text += decoder.decode(value.subarray(0, left), { stream: true });
    left -= value.length;
  }
  await reader?.cancel();
  return text;
}

/** Fetch only says "fetch failed"; its cause has the reason. */
function reasonOf(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown };
  return cause instanceof Error ? cause.message : error instanceof Error ? error.message : String(error);
}
