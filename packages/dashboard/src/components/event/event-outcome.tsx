// The outcome of an event, as a badge: delivered, waiting, failed, dead, rejected, or without a subscriber.
import type { ListedEvent } from "@posthorn/client";
import { defineTexts } from "../../app/texts.ts";
import { Badge, type BadgeProps } from "../ui/badge.tsx";

const t = defineTexts({
  delivered: ["delivered", "zugestellt"],
  waiting: ["waiting", "wartet"],
  failed: ["retrying", "wird wiederholt"],
  dead: ["failed for good", "endgültig fehlgeschlagen"],
  unmatched: ["no subscriber", "kein Abonnent"],
  share: ["{delivered} of {deliveries}", "{delivered} von {deliveries}"],
  counts: [
    "{delivered} delivered, {failed} retried, {dead} failed for good, {waiting} waiting",
    "{delivered} zugestellt, {failed} werden wiederholt, {dead} endgültig fehlgeschlagen, {waiting} warten",
  ],
  rejected: ["rejected", "abgelehnt"],
  discarded: ["discarded", "verworfen"],
});

const LOOKS: Record<NonNullable<ListedEvent["outcome"]>["state"], Omit<BadgeProps, "children">> = {
  delivered: { tone: "ok", icon: "check" },
  waiting: { tone: "calm", icon: "clock" },
  failed: { tone: "warn", icon: "retry" },
  dead: { tone: "bad", icon: "dead" },
  unmatched: { tone: "plain", icon: "info" },
};

export function EventOutcome({
  event: { outcome, rejection },
}: {
  readonly event: Pick<ListedEvent, "outcome" | "rejection">;
}) {
  if (rejection !== null)
    return (
      <Badge tone={rejection.discarded_at === null ? "warn" : "plain"} title={rejection.message}>
        {rejection.discarded_at === null ? t.rejected : t.discarded}
      </Badge>
    );
  if (outcome === null) return "–";
  const { state, delivered, deliveries } = outcome;
  return (
    <Badge {...LOOKS[state]} title={deliveries === 0 ? undefined : t.counts(outcome)}>
      {t[state]}
      {deliveries > 1 && ` ${t.share({ delivered, deliveries })}`}
    </Badge>
  );
}
