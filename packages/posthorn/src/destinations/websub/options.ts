// Options of a WebSub hub: the topics it serves, how it signs, the lease times, and the limits for anonymous
// subscribers.
import type { AddressPolicy } from "../../attempt/guard/guard-address.ts";
import { refuseUnknown } from "../../did-you-mean.ts";
import { HUB_SIGNATURE_METHODS, type HubSignatureMethod } from "../../model.ts";
import {
  invalid,
  type NumericOption,
  type OptionCheck,
  oneOf,
  readNumbers,
  readRanges,
} from "../../option-checks.ts";

export interface WebSubOptions {
  /** URL prefixes of external topics that it serves; `*` for all. Default: only its own topics. */
  readonly externalTopics?: readonly string[] | undefined;
  /** Signature method for subscribers that gave a secret. Default `sha256`. */
  readonly signature?: HubSignatureMethod | undefined;
  /** Lease if the subscriber requests none. Default 864 000, ten days. */
  readonly leaseSeconds?: number | undefined;
  /** Longest lease. Default 1 296 000, fifteen days. */
  readonly maxLeaseSeconds?: number | undefined;
  /** Subscriptions in total. Default 10 000. */
  readonly maxSubscriptions?: number | undefined;
  /** Subscriptions with callbacks on one host. Default 500. */
  readonly maxSubscriptionsPerHost?: number | undefined;
  /** Verifications and denials sent to one host per minute, by all processes. Default 30. */
  readonly verificationsPerHost?: number | undefined;
  /** Verifications and denials sent to all hosts per minute. Default 600. */
  readonly verificationsPerMinute?: number | undefined;
  /** Larger content of external topics is not distributed. Default 1 048 576. */
  readonly maxTopicBytes?: number | undefined;
  /**
   * Private address ranges that callbacks and topics may use. `allowCidrs` of endpoints does not apply to
   * subscribers, who are anonymous. Default: none.
   */
  readonly allowCidrs?: readonly string[] | undefined;
}

export type HubConfig = NonNullable<ReturnType<typeof resolveWebSub>>;

/** Requests may arrive at another process, so this one polls. */
export const POLL_MS = 1_000;

/** Shorter leases would cost too many renewals. */
export const MIN_LEASE_SECONDS = 300;
const DAY_SECONDS = 86_400;

const lease = { min: MIN_LEASE_SECONDS, max: 365 * DAY_SECONDS };

/** Bounds and defaults of the options that are numbers, shared with the server's settings. */
export const hubNumbers = {
  leaseSeconds: { ...lease, default: 10 * DAY_SECONDS },
  maxLeaseSeconds: { ...lease, default: 15 * DAY_SECONDS },
  maxSubscriptions: { min: 1, max: 1_000_000, default: 10_000 },
  maxSubscriptionsPerHost: { min: 1, max: 1_000_000, default: 500 },
  verificationsPerHost: { min: 1, max: 10_000, default: 30 },
  verificationsPerMinute: { min: 1, max: 100_000, default: 600 },
  maxTopicBytes: { min: 1024, max: 4 * 1024 * 1024, default: 1024 * 1024 },
} satisfies Partial<Record<keyof WebSubOptions, NumericOption>>;

const names = ["externalTopics", "signature", "allowCidrs", ...Object.keys(hubNumbers)];

export function resolveWebSub(
  check: OptionCheck,
  options: WebSubOptions | undefined,
  publicUrl: string | null,
  addressPolicy: AddressPolicy,
) {
  if (options === undefined) return null;
  if (typeof options !== "object" || options === null) {
    throw invalid("websub must be an object of options; {} takes the defaults.");
  }
  check.read("websub", () => refuseUnknown("websub has no option", options, names));
  if (publicUrl === null) {
    throw invalid(
      "websub needs publicUrl (POSTHORN_PUBLIC_URL): subscribers store the hub's URL, so it must not change.",
    );
  }
  const hubUrl = `${publicUrl.replace(/\/+$/, "")}/websub`;
  const { maxLeaseSeconds } = hubNumbers;
  const { maxLeaseSeconds: given } = readNumbers(check, options, { maxLeaseSeconds }, "websub.");
  const max = given ?? lease.max;
  const { maxLeaseSeconds: _, ...otherNumbers } = hubNumbers;
  const leaseSeconds = { ...lease, max, default: Math.min(hubNumbers.leaseSeconds.default, max) };
  return {
    hubUrl,
    /** Followed by `tenant/type`. */
    topicsUrl: `${hubUrl}/topics/`,
    externalTopics: check.read("websub.externalTopics", () => readTopics(options.externalTopics ?? [])),
    signatureMethod: check.read("websub.signature", () =>
      oneOf("websub.signature", options.signature ?? "sha256", HUB_SIGNATURE_METHODS),
    ),
    maxLeaseSeconds: max,
    ...readNumbers(check, options, { ...otherNumbers, leaseSeconds }, "websub."),
    /** Applies to URLs from anonymous subscribers and publishers. */
    addressPolicy: {
      ...addressPolicy,
      allowedCidrs: check.read("websub.allowCidrs", () =>
        readRanges("websub.allowCidrs", options.allowCidrs),
      ),
    },
  };
}

function readTopics(topics: readonly string[]): readonly string[] {
  const isTopic = (topic: unknown) =>
    typeof topic === "string" && (topic === "*" || /^https?:\/\/[^/?#]+\//.test(topic));
  if (Array.isArray(topics) && topics.every(isTopic)) return topics;
  throw invalid(
    "websub.externalTopics lists URL prefixes with host and slash, such as https://blog.example.com/, or * for all.",
  );
}
