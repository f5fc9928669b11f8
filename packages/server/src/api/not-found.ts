// The 404 for an unknown path, with the closest route as a suggestion.
import { closest } from "@posthorn/wire";
import { HttpError } from "./http-error.ts";
import type { Route } from "./router.ts";

const API = "/api/v1";

export function notFound(url: string, routes: readonly Route[]): HttpError {
  const [path = "/"] = url.split("?");
  return new HttpError("not_found", `There is nothing at this path. ${hint(path, routes)}`);
}

function hint(path: string, routes: readonly Route[]): string {
  const paths = [...new Set(routes.map((route) => route.path))];
  if (!paths.some((known) => known.startsWith(`${API}/`))) {
    return `This process runs as a worker without the API. It serves only ${paths.join(" and ")}.`;
  }
  const near = nearest(path, paths);
  if (near !== null) return `Did you mean ${near}?`;
  if (!path.startsWith(`${API}/`)) return `The API is under ${API}.`;
  const roots = new Set(
    paths.filter((known) => known.startsWith(`${API}/`)).map((known) => known.split("/")[3]),
  );
  return `Resources under ${API}: ${[...roots].join(", ")}.`;
}

/** Returns the route with the fewest differing segments, if each difference looks like a typo. */
function nearest(path: string, known: readonly string[]): string | null {
  const asked = path.replace(/\/+$/, "").slice(0, 1_000).split("/");
  let [best, fewest] = [null as string | null, asked.length];
  for (const candidate of known) {
    const slips = differencesBetween(asked, candidate.split("/"));
    if (slips !== null && slips < fewest) [best, fewest] = [candidate, slips];
  }
  return best;
}

/** Counts segments that look like typos; null if a segment is entirely different. */
function differencesBetween(asked: readonly string[], known: readonly string[]): number | null {
  if (asked.length !== known.length) return null;
  let slips = 0;
  for (const [index, segment] of known.entries()) {
    const given = asked[index] ?? "";
    if (segment === given || (segment.startsWith("{") && given !== "")) continue;
    if (segment.startsWith("{") || closest(given.slice(0, 100), [segment]) === null) return null;
    slips += 1;
  }
  return slips;
}
