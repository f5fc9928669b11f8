// How what the server told is kept: shown at once when it is asked for again, and asked anew when it is old. A refusal is
// an answer and is not asked for again; a server that cannot be reached is.
import { PosthornApiError } from "@posthorn/client/web";
import { QueryClient } from "@tanstack/react-query";

const FRESH_MS = 5_000;
const MOST_TRIES = 3;

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        retry: (failures, error) => isWorthAnotherTry(error) && failures < MOST_TRIES,
      },
    },
  });
}

function isWorthAnotherTry(error: unknown): boolean {
  return !(error instanceof PosthornApiError) || error.status === 503;
}
