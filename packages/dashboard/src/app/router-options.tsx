// Router options of the dashboard and the portal.
import type { ErrorComponentProps } from "@tanstack/react-router";
import { Broken, NotFound } from "../components/ui/states.tsx";
import { parseSearch, stringifySearch } from "./search-text.ts";

export const ROUTER_OPTIONS = {
  // drops search parameters that the route does not declare
  search: { strict: true },
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  scrollRestoration: true,
  defaultErrorComponent: ({ reset }: ErrorComponentProps) => <Broken onRetry={reset} />,
  defaultNotFoundComponent: () => <NotFound />,
} as const;
