// Applies the portal's branding: title, accent colour and theme.
import { type ReactNode, useLayoutEffect } from "react";
import { accentFor } from "../format/accent.ts";
import { portalSettings } from "./portal-settings.ts";
import { fixTheme, useIsDark } from "./preferences.ts";

const { accent, appearance, name } = portalSettings;
if (appearance !== "auto") fixTheme(appearance);
if (name !== undefined) document.title = name;

export function PortalTheme({ children }: { readonly children: ReactNode }) {
  const isDark = useIsDark();
  useLayoutEffect(() => {
    if (accent === undefined) return;
    const { ground, onGround, ink } = accentFor(isDark ? "dark" : "light", accent);
    const { style } = document.documentElement;
    style.setProperty("--accent", ground);
    style.setProperty("--on-accent", onGround);
    style.setProperty("--accent-ink", ink);
  }, [isDark]);
  return children;
}
