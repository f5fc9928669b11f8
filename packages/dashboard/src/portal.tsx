// Entry point of the customer portal, which shows one tenant.
import { RouterProvider } from "@tanstack/react-router";
import { createPortalRouter } from "./app/portal-router.tsx";
import { PortalTheme } from "./app/portal-theme.tsx";
import { start } from "./app/start.tsx";
import { SignedOut } from "./pages/portal/signed-out.tsx";

const router = createPortalRouter();
// loads the first page's code while the session is requested
void router.load();
start({
  whenSignedIn: ({ tenant }) => (
    <PortalTheme>{tenant === null ? <SignedOut /> : <RouterProvider router={router} />}</PortalTheme>
  ),
  whenSignedOut: () => (
    <PortalTheme>
      <SignedOut />
    </PortalTheme>
  ),
});
