// Order per subject at ordered endpoints.
import { groupBy, type IndexedEvidence, isSuccess } from "../evidence/evidence.ts";

/** A request is out of order if a lower sequence has had no 2xx yet. Repeating an older one is allowed. */
export function order(evidence: IndexedEvidence): string[] {
  const ordered = new Set(evidence.endpoints.flatMap(({ name, isOrdered }) => (isOrdered ? name : [])));
  const lines = groupBy(
    evidence.requests.filter(({ endpoint, content }) => ordered.has(endpoint) && content?.subject != null),
    ({ endpoint, content }) => `${endpoint} ${content?.subject}`,
  );
  return [...lines].flatMap(([line, requests]) => {
    const acceptedAt = new Map<number, number>();
    for (const { content, status, respondedAt } of requests) {
      if (!isSuccess(status) || typeof content?.sequence !== "number") continue;
      const before = acceptedAt.get(content.sequence) ?? Number.POSITIVE_INFINITY;
      acceptedAt.set(content.sequence, Math.min(before, respondedAt as number));
    }
    return requests.flatMap(({ content, arrivedAt }) => {
      const { sequence } = content as { sequence: number | null };
      if (sequence === null) return `${line}: an event without a sequence`;
      const skipped = [...acceptedAt].filter(([number, at]) => number < sequence && at > arrivedAt);
      return skipped.length === 0 ? [] : `${line}: ${sequence} came before ${skipped.map(([n]) => n).join()}`;
    });
  });
}
