// The handler options for the dashboard and portal, from the settings.
import type { HandlerOptions } from "../../api/handler.ts";
import type { Config } from "../../config.ts";

export function siteOptions(config: Config): Pick<HandlerOptions, "publicUrl" | "allowedHosts" | "portal"> {
  return {
    publicUrl: config.publicUrl,
    allowedHosts: config.allowedHosts,
    portal: {
      origins: config.portalOrigins,
      name: config.portalName,
      logoUrl: config.portalLogoUrl,
      accent: config.portalAccent,
      appearance: config.portalAppearance,
    },
  };
}
