// Puts a page together: what was loaded before, who is signed in, which language, and then the screens.
import { QueryClientProvider } from "@tanstack/react-query";
import { Fragment, type ReactNode, StrictMode } from "react";
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
  readonly whenNot: () => ReactNode;
}

export function start(parts: PageParts): void {
  const root = document.getElementById("root");
  if (root === null) throw new Error("The page has no place to put the screens.");
  fitFrame(root);
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={createQueryClient()}>
        <InLanguage>
          <Door {...parts} />
        </InLanguage>
      </QueryClientProvider>
    </StrictMode>,
  );
}

function InLanguage({ children }: { readonly children: ReactNode }) {
  return <LanguageContext value={usePreferences().language}>{children}</LanguageContext>;
}

function Door({ whenSignedIn, whenNot }: PageParts) {
  useSessionChanges();
  const { data: session, error, isPending, refetch } = useSession();
  if (isPending) return <Loading />;
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (session === null) return whenNot();
  // whatever was drawn for somebody else, such as after another link was opened in another tab, is drawn anew
  return <Fragment key={sessionName(session)}>{whenSignedIn(session)}</Fragment>;
}
