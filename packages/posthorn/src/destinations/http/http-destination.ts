// Destinations that send one HTTP request per attempt.
import { REDACTED } from "../../catalogue/redact.ts";
import { PosthornError } from "../../errors.ts";
import { type AttemptError, notSent, type PreparedRequest } from "../../model.ts";
import type { Destination } from "../destination.ts";
import { classify } from "./classify.ts";
import { maskEcho } from "./mask-echo.ts";

type HttpKind = Partial<Omit<Destination, "request">> & {
  readonly request: (...parameters: Parameters<Destination["request"]>) => PreparedRequest;
};

/** A kind needs a request; the rest defaults to that of a webhook. */
export function httpDestination({ request, isPublic = false, ...kind }: HttpKind): Destination {
  return {
    mayStart: true,
    allowedPerMinute: null,
    acceptsReplays: true,
    isPermanent: true,
    accepts: () => true,
    interpret: classify,
    /** A request that cannot be built fails this delivery only. */
    attempt(delivery, target, moment, services) {
      let prepared: PreparedRequest;
      try {
        const sent = isPublic ? { ...delivery, event: services.redact(delivery.event) } : delivery;
        prepared = request(sent, target, moment, services.userAgent);
      } catch (error) {
        return notSent({ error: reasonNotBuilt(error), detail: (error as Error).message });
      }
      const outcome = services.send(prepared);
      if (prepared.confidential === undefined) return outcome;
      return outcome.then((known) => maskEcho(known, prepared, REDACTED));
    },
    ...kind,
    isPublic,
    request,
  };
}

function reasonNotBuilt(error: unknown): AttemptError {
  const isKeyMissing =
    error instanceof PosthornError && ["encryption_key_missing", "secret_unreadable"].includes(error.code);
  return isKeyMissing ? "not_signed" : "invalid_request";
}
