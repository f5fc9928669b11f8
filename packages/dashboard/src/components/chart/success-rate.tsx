// The success rate of a period. The server computes it: every place shows the same number.
import { share } from "../../format/number.ts";
import type { Tone } from "../ui/badge.tsx";

const SHARES = { good: 0.99, poor: 0.9 } as const;

/** Null: there were no attempts. */
export function successRateText(rate: number | null): string {
  return rate === null ? "–" : share(rate);
}

export function toneOfSuccessRate(rate: number | null): Tone {
  if (rate === null) return "plain";
  if (rate >= SHARES.good) return "ok";
  return rate >= SHARES.poor ? "warn" : "bad";
}
