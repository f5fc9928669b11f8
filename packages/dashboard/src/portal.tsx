// Entry point of the customer portal, which shows one tenant.
import { RouterProvider } from "@tanstack/react-router";
import { type ReactNode, useLayoutEffect } from "react";
import { createPortalRouter } from "./app/portal-router.tsx";
import { portalSettings } from "./app/portal-settings.ts";
import { fixTheme, useIsDark } from "./app/preferences.ts";
import { start } from "./app/start.tsx";
import { accentFor } from "./format/accent.ts";
import { SignedOut } from "./pages/portal/signed-out.tsx";

const { accent, appearance, logoUrl, name } = portalSettings;
if (appearance !== "auto") fixTheme(appearance);
if (name !== undefined) document.title = name;
const icon = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
if (icon !== null && logoUrl !== undefined) icon.href = logoUrl;

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

function PortalTheme({ children }: { readonly children: ReactNode }) {
  const isDark = useIsDark();
  useLayoutEffect(() => {
    if (accent === undefined) return;
    const { ground, onGround, ink } = accentFor(isDark ? "dark" : "light", accent);
    const { style } = document.documentElement;
    style.setProperty("--color-accent", ground);
    style.setProperty("--color-on-accent", onGround);
    style.setProperty("--color-accent-ink", ink);
  }, [isDark]);
  return children;
}
