// What holds for the screens of both pages: how their addresses are read, and what is shown in place of a screen that
// breaks or that there is none of. The rest of the page stays.
import type { ErrorComponentProps } from "@tanstack/react-router";
import { Broken, NotFound } from "../components/ui/states.tsx";
import { parseSearch, stringifySearch } from "./search-text.ts";

export const EVERY_ROUTER = {
  // what a screen does not know is not in its address
  search: { strict: true },
  parseSearch,
  stringifySearch,
  defaultPreload: "intent",
  scrollRestoration: true,
  defaultErrorComponent: ({ reset }: ErrorComponentProps) => <Broken onRetry={reset} />,
  defaultNotFoundComponent: () => <NotFound />,
} as const;
