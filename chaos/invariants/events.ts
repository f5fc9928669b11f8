// Between publishers and receivers: what must arrive, and what must not.
import { type CaseFile, expectedAt, groupBy, isSuccess } from "../evidence.ts";

export function nothingLost(file: CaseFile): string[] {
  const taken = new Set(
    file.requests.flatMap(({ endpoint, eventId, status, content }) =>
      isSuccess(status) && content !== null ? `${endpoint} ${eventId}` : [],
    ),
  );
  return file.publishes
    .filter(({ fate }) => fate === "acknowledged")
    .flatMap((publish) =>
      expectedAt(file, publish)
        .filter(({ name }) => !taken.has(`${name} ${publish.ids[0]}`))
        .map(({ name }) => `${publish.key} (${publish.ids[0]}) never reached ${name}`),
    );
}

export function noPhantom(file: CaseFile): string[] {
  return file.requests.flatMap(({ endpoint, eventId, content }) => {
    if (content === null) return [];
    const publish = file.publishOf.get(content.key);
    const seen = `${eventId} at ${endpoint}`;
    if (publish === undefined) return `${seen} was never published`;
    if (publish.fate === "refused") return `${seen} (${content.key}) was refused or rolled back`;
    if (publish.ids.length > 0 && !publish.ids.includes(eventId))
      return `${seen} is not what ${content.key} was told`;
    if (publish.sha256 !== content.sha256)
      return `${seen} (${content.key}) has other bytes than were published`;
    return Object.entries(content.signedFor).flatMap(([scheme, names]) =>
      names.join() === endpoint ? [] : `${seen}: ${scheme} is signed for ${names.join(", ") || "nobody"}`,
    );
  });
}

export function allOrNone(file: CaseFile): string[] {
  const endpointsOf = reached(file);
  return file.publishes
    .filter(({ fate }) => fate === "open")
    .flatMap((publish) => {
      const seen = endpointsOf.get(publish.key) ?? new Set();
      const missing = expectedAt(file, publish).filter(({ name }) => !seen.has(name));
      return seen.size === 0 || missing.length === 0
        ? []
        : `${publish.key} reached ${[...seen].join()} but not ${missing.map(({ name }) => name).join()}`;
    });
}

function reached({ requests }: CaseFile): Map<string, Set<string>> {
  const endpoints = new Map<string, Set<string>>();
  for (const { content, endpoint, status } of requests) {
    if (content === null || !isSuccess(status)) continue;
    endpoints.set(content.key, (endpoints.get(content.key) ?? new Set()).add(endpoint));
  }
  return endpoints;
}

export function idempotentPublish(file: CaseFile): string[] {
  const stored = groupBy(file.events, ({ key }) => key);
  return file.publishes.flatMap(({ key, ids }) => {
    const known = new Set([...ids, ...(stored.get(key) ?? []).map(({ id }) => id)]);
    return known.size > 1 ? `${key} became ${[...known].join(" and ")}` : [];
  });
}

export function businessRows({ orders, events, publishes }: CaseFile): string[] {
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
