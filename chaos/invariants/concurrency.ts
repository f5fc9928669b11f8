// What is open at once, and who sees whose events.
import { type CaseFile, groupBy, type ReceivedRequest } from "../evidence.ts";

/** Closing a connection and opening the next reach the receiver in the same moment, in either order. */
const sameMomentMs = 50;

function isTakenForDead({ attemptsOf }: CaseFile, { deliveryId, attempt }: ReceivedRequest): boolean {
  return attemptsOf.get(deliveryId)?.get(attempt)?.error === "unknown";
}

/** Attempts are numbered as they were begun: what a frozen worker had begun may also come after its successor's. */
export function singleFlight(file: CaseFile): string[] {
  return [...file.requestsOf].flatMap(([deliveryId, requests]) =>
    requests.slice(1).flatMap((request, index) =>
      requests
        .slice(0, index + 1)
        .filter((open) => open.endedAt - sameMomentMs > request.arrivedAt)
        .filter((open) => !isTakenForDead(file, open.attempt < request.attempt ? open : request))
        .map((open) => `${deliveryId}: attempt ${request.attempt} came while ${open.attempt} was open`),
    ),
  );
}

/**
 * What a worker that was taken for dead has in the air may overlap with what its successor sends, so twice the cap for
 * as long as a request lasts. Requests of the living never exceed it.
 */
export function cap(file: CaseFile): string[] {
  const byEndpoint = groupBy(file.requests, ({ endpoint }) => endpoint);
  return [...byEndpoint].flatMap(([name, requests]) => {
    const allowed = file.endpointNamed.get(name)?.maxInFlight ?? 0;
    const living = mostAtOnce(requests.filter((request) => !isTakenForDead(file, request)));
    const all = mostAtOnce(requests);
    return [
      ...(living > allowed ? [`${name} had ${living} requests open, ${allowed} are allowed`] : []),
      ...(all > 2 * allowed
        ? [`${name} had ${all} requests open, of the dead too; ${allowed} are allowed`]
        : []),
    ];
  });
}

function mostAtOnce(requests: readonly ReceivedRequest[]): number {
  const changes = requests.flatMap(({ arrivedAt, endedAt }) => [
    { at: arrivedAt, by: 1 },
    { at: Math.max(arrivedAt, endedAt - sameMomentMs), by: -1 },
  ]);
  let open = 0;
  let most = 0;
  for (const { by } of changes.sort((a, b) => a.at - b.at || a.by - b.by)) {
    open += by;
    most = Math.max(most, open);
  }
  return most;
}

export function isolation(file: CaseFile): string[] {
  return file.requests.flatMap(({ endpoint, eventId, content }) => {
    const owner = file.endpointNamed.get(endpoint)?.tenant;
    const tenants = [content?.tenant, file.publishOf.get(content?.key ?? "")?.tenant].filter(Boolean);
    return tenants.every((tenant) => tenant === owner)
      ? []
      : `${endpoint} of ${owner} saw ${eventId} of ${tenants.join(" and ")}`;
  });
}
