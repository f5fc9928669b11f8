// Explains rejections for the log, with a rate limit: explaining a wrong signature costs several HMACs, and anyone can send
// such a request.
import { type Explanation, explainFailure, type FailedVerification, type VerifyInput } from "@posthorn/wire";

// About 2 ms each for the largest body that is examined, so a flood can use at most 2 % of a core.
const MAX_EXPLAINED_PER_SECOND = 10;

/** One per source, so that a flood on one source does not hide the reasons of the others. */
export function rejectionExplainer() {
  let second = Number.NaN;
  let explained = 0;
  return async (input: VerifyInput, failure: FailedVerification, now: Date): Promise<Explanation> => {
    const current = Math.floor(now.getTime() / 1000);
    if (current !== second) {
      second = current;
      explained = 0;
    }
    if (failure.reason === "no_match" && ++explained > MAX_EXPLAINED_PER_SECOND) {
      return { reason: failure.reason, hint: failure.detail };
    }
    return explainFailure(input, failure);
  };
}
