// What Zoom sends.
import { vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import type { SigningOptions } from "./signing-source.ts";
import { vendorSource } from "./vendor-source.ts";

/** Zoom. `secrets` are the app's secret tokens. Its events have no id, so the digest of the body is it. The URL validation is answered. */
export function zoom(options: SigningOptions): Source {
  return vendorSource(vendors.zoom, options);
}
