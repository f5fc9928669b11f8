// Creates the router of the dashboard or the portal from a table of pages, which are loaded on demand.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
  type RouterHistory,
} from "@tanstack/react-router";
import { Broken, UnknownAddress } from "../components/ui/page.tsx";
import { readFilters } from "./filters.ts";
import { useLanguage } from "./preferences.ts";
import { parseSearch, stringifySearch } from "./search-text.ts";

declare module "@tanstack/react-router" {
  interface StaticDataRouteOption {
    readonly section?: string;
  }
}

interface PageRoute {
  readonly component: RouteComponent;
  readonly filters: readonly string[];
  readonly section: string | undefined;
}

/**
 * A page that `load` exports as `name`, with the filters that its URL may have. `section` is the path of the navigation's
 * entry to which it belongs; default: the first segment of its own path.
 */
export function page<Module extends Record<string, unknown>>(
  load: () => Promise<Module>,
  name: keyof Module & string,
  filters: readonly string[] = [],
  section?: string,
): PageRoute {
  const component = lazyRouteComponent(load as () => Promise<Record<string, RouteComponent>>, name);
  return { component, filters, section };
}

/** The history is the browser's by default. */
export function createPageRouter(
  shell: RouteComponent,
  basepath: string,
  pages: Readonly<Record<string, PageRoute>>,
  history?: RouterHistory,
) {
  const root = createRootRoute({ component: translated(shell) });
  const routes = Object.entries(pages).map(([path, { component, filters, section = firstSegment(path) }]) =>
    createRoute({
      getParentRoute: () => root,
      path,
      component: translated(component),
      validateSearch: readFilters(filters),
      staticData: { section },
    }),
  );
  return createRouter({
    routeTree: root.addChildren(routes),
    basepath,
    // drops search parameters that the route does not declare
    search: { strict: true },
    parseSearch,
    stringifySearch,
    defaultPreload: "intent",
    scrollRestoration: true,
    defaultErrorComponent: ({ reset }) => <Broken onRetry={reset} />,
    defaultNotFoundComponent: translated(UnknownAddress),
    ...(history && { history }),
  });
}

function firstSegment(path: string): string {
  return `/${path.split("/")[1]}`;
}

/** Renders a component of the router again when the language changes; the router renders it only for a new URL. */
function translated(Component: RouteComponent): RouteComponent {
  const { preload } = Component;
  const rendered = () => {
    useLanguage();
    return <Component />;
  };
  return Object.assign(rendered, preload && { preload });
}
