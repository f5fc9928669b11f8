// The customers' page: one tenant, and never more.
import { RouterProvider } from "@tanstack/react-router";
import { portalRouter } from "./app/portal-router.tsx";
import { PortalTheme } from "./app/portal-theme.tsx";
import { start } from "./app/start.tsx";
import { LinkIsOver } from "./pages/portal/link-is-over.tsx";

// while the server is asked who this is
void portalRouter.load();
start({
  whenSignedIn: ({ tenant }) => (
    <PortalTheme>{tenant === null ? <LinkIsOver /> : <RouterProvider router={portalRouter} />}</PortalTheme>
  ),
  whenNot: () => (
    <PortalTheme>
      <LinkIsOver />
    </PortalTheme>
  ),
});
