// Mounts a page: query client, language and session.
import { QueryClientProvider } from "@tanstack/react-query";
import { Fragment, type ReactNode, StrictMode, useState } from "react";
import { createRoot } from "react-dom/client";
import { createQueryClient } from "../api/queries.ts";
import { type Session, sessionName, useSession, useSessionChanges } from "../api/session.ts";
import { Failed, Loading } from "../components/ui/states.tsx";
import "../style.css";
import { fitFrame } from "./frame.ts";
import { usePreferences } from "./preferences.ts";
import { LanguageContext } from "./texts.ts";

export interface PageParts {
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

/** The page below its root element, with its own query client. */
export function PageRoot(parts: PageParts) {
  const [queries] = useState(createQueryClient);
  return (
    <QueryClientProvider client={queries}>
      <LanguageProvider>
        <SessionGate {...parts} />
      </LanguageProvider>
    </QueryClientProvider>
  );
}

function LanguageProvider({ children }: { readonly children: ReactNode }) {
  return <LanguageContext value={usePreferences().language}>{children}</LanguageContext>;
}

function SessionGate({ whenSignedIn, whenSignedOut }: PageParts) {
  useSessionChanges();
  const { data: session, error, isPending, refetch } = useSession();
  if (isPending) return <Loading />;
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (session === null) return whenSignedOut();
  // a new session, for example after another link was opened in another tab, remounts everything
  return <Fragment key={sessionName(session)}>{whenSignedIn(session)}</Fragment>;
}
