// The `dataschema` of CloudEvents: the URL where the server serves the schema of the event's type and version.
import type { Event } from "../model.ts";
import type { Catalogue } from "./catalogue.ts";

/** Returns undefined without a public URL: the attribute must be absolute. */
export function createDataschemaOf(
  catalogue: Pick<Catalogue, "hadSchema">,
  publicUrl: string | null,
): ((event: Event) => string | undefined) | undefined {
  if (publicUrl === null) return undefined;
  const base = publicUrl.replace(/\/+$/, "");
  return (event) =>
    catalogue.hadSchema(event) ? `${base}/event-schemas/${event.type}/${event.apiVersion}.json` : undefined;
}
