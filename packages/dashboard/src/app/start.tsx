// Mounts a page: query client, language and session.
import { PosthornApiError } from "@posthorn/client/web";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { Fragment, type ReactNode, StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { type Session, sessionName, useSession, useSessionChanges } from "../api/session.ts";
import { Failed, Loading } from "../components/ui/page.tsx";
import "../style.css";
import { fitFrame } from "./frame.ts";
import { useLanguage } from "./preferences.ts";

interface PageParts {
  readonly whenSignedIn: (session: Session) => ReactNode;
  readonly whenSignedOut: () => ReactNode;
}

export function start(parts: PageParts): void {
  const root = document.getElementById("root");
  if (root === null) throw new Error("The page has no #root element.");
  fitFrame(root);
  createRoot(root).render(
    <StrictMode>
      <PageRoot {...parts} />
    </StrictMode>,
  );
}

const FRESH_MS = 5_000;
const MAX_RETRIES = 3;

/** Network errors and 503 are retried, other error responses are not. */
function createQueryClient(): QueryClient {
  const isRetryable = (error: unknown) => !(error instanceof PosthornApiError) || error.status === 503;
  const retry = (failures: number, error: unknown) => isRetryable(error) && failures < MAX_RETRIES;
  return new QueryClient({ defaultOptions: { queries: { staleTime: FRESH_MS, retry } } });
}

/** The page below its root element, with its own query client. */
export function PageRoot(parts: PageParts) {
  const [queries] = useState(createQueryClient);
  return (
    <QueryClientProvider client={queries}>
      <SessionGate {...parts} />
    </QueryClientProvider>
  );
}

function SessionGate({ whenSignedIn, whenSignedOut }: PageParts) {
  useLanguage();
  useSessionChanges();
  const { data: session, error, isPending, refetch } = useSession();
  if (isPending) return <Loading />;
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (session === null) return whenSignedOut();
  // a new session, for example after another link was opened in another tab, remounts everything
  return <Fragment key={sessionName(session)}>{whenSignedIn(session)}</Fragment>;
}
