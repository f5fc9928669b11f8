// Validates the site options of an application like the settings, because they end up in headers and cookies.
import {
  hexColour,
  hostName,
  httpUrl,
  InvalidValueError,
  imageUrl,
  list,
  oneOf,
  type Parser,
  shortText,
  webOrigin,
} from "../../config/parsers.ts";
import type { PortalOptions } from "./sign-in.ts";
import type { SiteOptions } from "./site.ts";

/** Throws a TypeError that names the invalid option. */
export function checkSiteOptions({
  publicUrl,
  allowedHosts = [],
  portal = {},
}: SiteOptions & { readonly portal?: PortalOptions | undefined }) {
  return {
    publicUrl: checked("publicUrl", publicUrl, httpUrl),
    allowedHosts: checked("allowedHosts", allowedHosts.join(","), list(hostName)),
    portal: {
      origins: checked("portal.origins", (portal.origins ?? []).join(","), list(webOrigin)),
      name: checked("portal.name", portal.name, shortText),
      logoUrl: checked("portal.logoUrl", portal.logoUrl, imageUrl),
      accent: checked("portal.accent", portal.accent, hexColour),
      appearance: checked("portal.appearance", portal.appearance, oneOf("auto", "light", "dark")),
    },
  };
}

function checked<T>(name: string, given: string, parse: Parser<T>): T;
function checked<T>(name: string, given: string | undefined, parse: Parser<T>): T | undefined;
function checked<T>(name: string, given: string | undefined, parse: Parser<T>): T | undefined {
  if (given === undefined) return undefined;
  try {
    return parse(given);
  } catch (error) {
    throw error instanceof InvalidValueError ? new TypeError(`${name} ${error.message}.`) : error;
  }
}
