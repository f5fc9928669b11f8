// The two requests a subscriber makes, on Fetch alone: within a time, and read no further than a bound.

/** What is used of it. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export interface HttpOptions {
  readonly fetch: Fetch;
  readonly timeoutMs: number;
}

/** The time is for the body too. */
export async function request(url: string, init: RequestInit, terms: HttpOptions): Promise<Response> {
  try {
    return await terms.fetch(url, { ...init, signal: AbortSignal.timeout(terms.timeoutMs) });
  } catch (error) {
    throw new Error(`${url} could not be asked: ${reasonOf(error)}`, { cause: error });
  }
}

/** The first so many bytes as text; URLs are ASCII, so that another encoding than UTF-8 does no harm. */
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

/** Fetch says only "fetch failed"; its cause says why. */
function reasonOf(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown };
  return cause instanceof Error ? cause.message : error instanceof Error ? error.message : String(error);
}
