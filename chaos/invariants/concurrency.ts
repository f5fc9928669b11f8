// Concurrent requests, and isolation between tenants.
import { groupBy, type IndexedEvidence, type ReceivedRequest } from "../evidence/evidence.ts";

/** The end of a request and the start of the next may reach the receiver in either order. */
const toleranceMs = 50;

function isDeclaredDead({ attemptsOf }: IndexedEvidence, { deliveryId, attempt }: ReceivedRequest): boolean {
  return attemptsOf.get(deliveryId)?.get(attempt)?.error === "unknown";
}

/** Attempts are numbered when they start; a frozen worker's request may arrive after its successor's. */
export function singleFlight(evidence: IndexedEvidence): string[] {
  return [...evidence.requestsOf].flatMap(([deliveryId, requests]) =>
    requests.slice(1).flatMap((request, index) =>
      requests
        .slice(0, index + 1)
        .filter((open) => open.endedAt - toleranceMs > request.arrivedAt)
        .filter((open) => !isDeclaredDead(evidence, open.attempt < request.attempt ? open : request))
        .map((open) => `${deliveryId}: attempt ${request.attempt} came while ${open.attempt} was open`),
    ),
  );
}

/**
 * Requests of live workers never exceed the limit. Together with requests of a worker that was declared dead, up to twice
 * the limit may be open.
 */
export function cap(evidence: IndexedEvidence): string[] {
  const byEndpoint = groupBy(evidence.requests, ({ endpoint }) => endpoint);
  return [...byEndpoint].flatMap(([name, requests]) => {
    const allowed = evidence.endpointNamed.get(name)?.maxInFlight ?? 0;
    const live = mostAtOnce(requests.filter((request) => !isDeclaredDead(evidence, request)));
    const all = mostAtOnce(requests);
    return [
      ...(live > allowed ? [`${name} had ${live} open requests; the limit is ${allowed}`] : []),
      ...(all > 2 * allowed
        ? [`${name} had ${all} open requests including those of dead workers; the limit is ${allowed}`]
        : []),
    ];
  });
}

function mostAtOnce(requests: readonly ReceivedRequest[]): number {
  const changes = requests.flatMap(({ arrivedAt, endedAt }) => [
    { at: arrivedAt, by: 1 },
    { at: Math.max(arrivedAt, endedAt - toleranceMs), by: -1 },
  ]);
  let open = 0;
  let most = 0;
  for (const { by } of changes.sort((a, b) => a.at - b.at || a.by - b.by)) {
    open += by;
    most = Math.max(most, open);
  }
  return most;
}

export function isolation(evidence: IndexedEvidence): string[] {
  return evidence.requests.flatMap(({ endpoint, eventId, content }) => {
    const owner = evidence.endpointNamed.get(endpoint)?.tenant;
    const tenants = [content?.tenant, evidence.publishOf.get(content?.key ?? "")?.tenant].filter(Boolean);
    return tenants.every((tenant) => tenant === owner)
      ? []
      : `${endpoint} of ${owner} got ${eventId} of ${tenants.join(" and ")}`;
  });
}
