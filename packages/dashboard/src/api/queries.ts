// Query defaults: data is fresh for 5 s. Network errors and 503 are retried, other error responses are not.
import { PosthornApiError } from "@posthorn/client/web";
import { QueryClient } from "@tanstack/react-query";

const FRESH_MS = 5_000;
const MAX_RETRIES = 3;

export function createQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: FRESH_MS,
        retry: (failures, error) => isRetryable(error) && failures < MAX_RETRIES,
      },
    },
  });
}

function isRetryable(error: unknown): boolean {
  return !(error instanceof PosthornApiError) || error.status === 503;
}
