// Creates the router of the dashboard or the portal from a table of pages, which are loaded on demand.
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  type RouteComponent,
  type RouterHistory,
} from "@tanstack/react-router";
import { Broken, NotFound } from "../components/ui/page.tsx";
import { readFilters } from "./filters.ts";
import { useLanguage } from "./preferences.ts";
import { parseSearch, stringifySearch } from "./search-text.ts";

interface PageRoute {
  readonly component: RouteComponent;
  readonly filters: readonly string[];
}

/** A page that `load` exports as `name`, with the filters that its URL may have. */
export function page<Module extends Record<string, unknown>>(
  load: () => Promise<Module>,
  name: keyof Module & string,
  filters: readonly string[] = [],
): PageRoute {
  const component = lazyRouteComponent(load as () => Promise<Record<string, RouteComponent>>, name);
  return { component, filters };
}

/** The history is the browser's by default. */
export function createPageRouter(
  shell: RouteComponent,
  basepath: string,
  pages: Readonly<Record<string, PageRoute>>,
  history?: RouterHistory,
) {
  const root = createRootRoute({ component: translated(shell) });
  const routes = Object.entries(pages).map(([path, { component, filters }]) =>
    createRoute({
      getParentRoute: () => root,
      path,
      component: translated(component),
      validateSearch: readFilters(filters),
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
    defaultNotFoundComponent: translated(NotFound),
    ...(history && { history }),
  });
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
