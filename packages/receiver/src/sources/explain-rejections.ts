// Reasons for the log, within bounds: finding one for a signature that does not match costs several HMACs, and anybody
// can send such a request.
import { type Explanation, explainRefusal, type Refusal, type VerifyInput } from "@posthorn/wire";

// About 2 ms each for the largest body that is looked at: a flood can take 2 % of a core, and no more.
const MAX_EXPLAINED_PER_SECOND = 10;

export type ExplainRejection = (input: VerifyInput, refusal: Refusal, now: Date) => Promise<Explanation>;

/** One for each source, so that a flood on one leaves the others their reasons. */
export function rejectionExplainer(): ExplainRejection {
  let second = Number.NaN;
  let explained = 0;
  return async (input, refusal, now) => {
    const current = Math.floor(now.getTime() / 1000);
    if (current !== second) {
      second = current;
      explained = 0;
    }
    if (refusal.reason === "no_match" && ++explained > MAX_EXPLAINED_PER_SECOND) {
      return { reason: refusal.reason, hint: refusal.detail };
    }
    return explainRefusal(input, refusal);
  };
}
