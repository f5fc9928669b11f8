// Options of a WebSub hub: the topics it serves, how it signs, the lease times, and the limits for anonymous
// subscribers.
import type { AddressPolicy } from "../../attempt/guard/guard-address.ts";
import { refuseUnknown } from "../../did-you-mean.ts";
import { HUB_SIGNATURE_METHODS, type HubSignatureMethod } from "../../model.ts";
import { invalid, oneOf, readRanges, within } from "../../option-checks.ts";

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

export interface HubConfig {
  readonly hubUrl: string;
  /** Followed by `tenant/type`. */
  readonly topicsUrl: string;
  readonly externalTopics: readonly string[];
  readonly signatureMethod: HubSignatureMethod;
  readonly leaseSeconds: number;
  readonly maxLeaseSeconds: number;
  readonly maxSubscriptions: number;
  readonly maxSubscriptionsPerHost: number;
  readonly verificationsPerHost: number;
  readonly verificationsPerMinute: number;
  readonly maxTopicBytes: number;
  /** Applies to URLs from anonymous subscribers and publishers. */
  readonly addressPolicy: AddressPolicy;
}

/** Shorter leases would cost too many renewals. */
export const MIN_LEASE_SECONDS = 300;
const DAY_SECONDS = 86_400;

const names: readonly (keyof WebSubOptions)[] = [
  "externalTopics",
  "signature",
  "leaseSeconds",
  "maxLeaseSeconds",
  "maxSubscriptions",
  "maxSubscriptionsPerHost",
  "verificationsPerHost",
  "verificationsPerMinute",
  "maxTopicBytes",
  "allowCidrs",
];
export const webSubOptionNames = names;

export function resolveWebSub(
  options: WebSubOptions | undefined,
  publicUrl: string | undefined,
  addressPolicy: AddressPolicy,
): HubConfig | null {
  if (options === undefined) return null;
  if (typeof options !== "object" || options === null) {
    throw invalid("websub must be an object of options; {} takes the defaults.");
  }
  refuseUnknown("websub has no option", options, names);
  if (publicUrl === undefined) {
    throw invalid(
      "websub needs publicUrl (POSTHORN_PUBLIC_URL): subscribers store the hub's URL, so it must not change.",
    );
  }
  const hubUrl = `${publicUrl.replace(/\/+$/, "")}/websub`;
  const maxLeaseSeconds = number(
    options,
    "maxLeaseSeconds",
    15 * DAY_SECONDS,
    MIN_LEASE_SECONDS,
    365 * DAY_SECONDS,
  );
  return {
    hubUrl,
    topicsUrl: `${hubUrl}/topics/`,
    externalTopics: readTopics(options.externalTopics ?? []),
    signatureMethod: oneOf("websub.signature", options.signature ?? "sha256", HUB_SIGNATURE_METHODS),
    leaseSeconds: number(
      options,
      "leaseSeconds",
      Math.min(10 * DAY_SECONDS, maxLeaseSeconds),
      MIN_LEASE_SECONDS,
      maxLeaseSeconds,
    ),
    maxLeaseSeconds,
    maxSubscriptions: number(options, "maxSubscriptions", 10_000, 1, 1_000_000),
    maxSubscriptionsPerHost: number(options, "maxSubscriptionsPerHost", 500, 1, 1_000_000),
    verificationsPerHost: number(options, "verificationsPerHost", 30, 1, 10_000),
    verificationsPerMinute: number(options, "verificationsPerMinute", 600, 1, 100_000),
    maxTopicBytes: number(options, "maxTopicBytes", 1024 * 1024, 1024, 4 * 1024 * 1024),
    addressPolicy: { ...addressPolicy, allowedCidrs: readRanges("websub.allowCidrs", options.allowCidrs) },
  };
}

function number(
  options: WebSubOptions,
  name: Exclude<keyof WebSubOptions, "externalTopics" | "signature" | "allowCidrs">,
  usual: number,
  least: number,
  most: number,
): number {
  return within(`websub.${name}`, options[name] ?? usual, least, most);
}

function readTopics(topics: readonly string[]): readonly string[] {
  const isTopic = (topic: unknown) =>
    typeof topic === "string" && (topic === "*" || /^https?:\/\/[^/?#]+\//.test(topic));
  if (Array.isArray(topics) && topics.every(isTopic)) return topics;
  throw invalid(
    "websub.externalTopics lists URL prefixes with host and slash, such as https://blog.example.com/, or * for all.",
  );
}
