// Per subject, at endpoints that asked for order.
import { type CaseFile, groupBy, isSuccess } from "../evidence.ts";

/** A request that comes while a smaller number has had no 2xx yet is out of order. Sending an older one again is not. */
export function order(file: CaseFile): string[] {
  const ordered = new Set(file.endpoints.flatMap(({ name, isOrdered }) => (isOrdered ? name : [])));
  const lines = groupBy(
    file.requests.filter(({ endpoint, content }) => ordered.has(endpoint) && content !== null),
    ({ endpoint, content }) => `${endpoint} ${content?.subject}`,
  );
  return [...lines].flatMap(([line, requests]) => {
    const takenAt = new Map<number, number>();
    for (const { content, status, answeredAt } of requests) {
      if (!isSuccess(status) || typeof content?.sequence !== "number") continue;
      const before = takenAt.get(content.sequence) ?? Number.POSITIVE_INFINITY;
      takenAt.set(content.sequence, Math.min(before, answeredAt as number));
    }
    return requests.flatMap(({ content, arrivedAt }) => {
      const { sequence } = content as { sequence: number | null };
      if (sequence === null) return `${line}: an event without a number`;
      const skipped = [...takenAt].filter(([number, at]) => number < sequence && at > arrivedAt);
      return skipped.length === 0 ? [] : `${line}: ${sequence} came before ${skipped.map(([n]) => n).join()}`;
    });
  });
}
