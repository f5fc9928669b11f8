// Compares what was published with what arrived.
import { expectedAt, groupBy, type IndexedEvidence, isSuccess } from "../evidence/evidence.ts";

export function nothingLost(evidence: IndexedEvidence): string[] {
  const taken = new Set(
    evidence.requests.flatMap(({ endpoint, eventId, status, content }) =>
      isSuccess(status) && content !== null ? `${endpoint} ${eventId}` : [],
    ),
  );
  return evidence.publishes
    .filter(({ fate }) => fate === "acknowledged")
    .flatMap((publish) =>
      expectedAt(evidence, publish)
        .filter(({ name }) => !taken.has(`${name} ${publish.ids[0]}`))
        .map(({ name }) => `${publish.key} (${publish.ids[0]}) never reached ${name}`),
    );
}

export function noPhantom(evidence: IndexedEvidence): string[] {
  return evidence.requests.flatMap(({ endpoint, eventId, content }) => {
    if (content === null) return [];
    const publish = evidence.publishOf.get(content.key);
    const seen = `${eventId} at ${endpoint}`;
    if (publish === undefined) return `${seen} was never published`;
    if (publish.fate === "refused") return `${seen} (${content.key}) was rejected or rolled back`;
    if (publish.ids.length > 0 && !publish.ids.includes(eventId))
      return `${seen} has another id than ${content.key} was acknowledged with`;
    if (publish.sha256 !== content.sha256)
      return `${seen} (${content.key}) has different bytes than published`;
    return Object.entries(content.signedFor).flatMap(([scheme, names]) =>
      names.join() === endpoint
        ? []
        : `${seen}: ${scheme} is signed for ${names.join(", ") || "no endpoint"}`,
    );
  });
}

export function allOrNone(evidence: IndexedEvidence): string[] {
  const endpointsOf = reached(evidence);
  return evidence.publishes
    .filter(({ fate }) => fate === "open")
    .flatMap((publish) => {
      const seen = endpointsOf.get(publish.key) ?? new Set();
      const missing = expectedAt(evidence, publish).filter(({ name }) => !seen.has(name));
      return seen.size === 0 || missing.length === 0
        ? []
        : `${publish.key} reached ${[...seen].join()} but not ${missing.map(({ name }) => name).join()}`;
    });
}

function reached({ requests }: IndexedEvidence): Map<string, Set<string>> {
  const endpoints = new Map<string, Set<string>>();
  for (const { content, endpoint, status } of requests) {
    if (content === null || !isSuccess(status)) continue;
    endpoints.set(content.key, (endpoints.get(content.key) ?? new Set()).add(endpoint));
  }
  return endpoints;
}

export function idempotentPublish(evidence: IndexedEvidence): string[] {
  const stored = groupBy(evidence.events, ({ key }) => key);
  return evidence.publishes.flatMap(({ key, ids }) => {
    const known = new Set([...ids, ...(stored.get(key) ?? []).map(({ id }) => id)]);
    return known.size > 1 ? `${key} became ${[...known].join(" and ")}` : [];
  });
}

export function businessRows({ orders, events, publishes }: IndexedEvidence): string[] {
  const fates = new Map(publishes.map(({ key, fate }) => [key, fate]));
  const eventOf = new Map(events.map(({ id, key }) => [key, id]));
  const ordered = new Set(orders.map(({ key }) => key));
  return [
    ...orders.flatMap(({ key, eventId }) =>
      eventOf.get(key) === eventId ? [] : `order ${key} has no event ${eventId}`,
    ),
    ...orders.flatMap(({ key }) => (fates.get(key) === "refused" ? `order ${key} was rolled back` : [])),
    ...events.flatMap(({ id, key }) =>
      key.startsWith("library-") && !ordered.has(key) ? `event ${id} has no order ${key}` : [],
    ),
  ];
}
