// Named values: of the retry policy, and of several endpoint settings at once.
import type { RetryPolicy } from "./setting.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

export const RETRY_PRESETS = {
  /** The default. */
  courier: { kind: "gaps", gapsMs: [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 6 * HOUR] },
  /** `courier` without its last attempt. */
  "five-attempts": { kind: "gaps", gapsMs: [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR] },
  short: { kind: "gaps", gapsMs: [30 * SECOND, 2 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR] },
  exponential: { kind: "exponential", baseMs: MINUTE, capMs: DAY, maxAttempts: 12 },
  /** For receivers that must respond now or not at all. */
  quick: { kind: "gaps", gapsMs: [1, 2, 4, 8, 16, 32, 64, 128, 256].map((seconds) => seconds * SECOND) },
} as const satisfies Record<string, RetryPolicy>;

export type RetryPresetName = keyof typeof RETRY_PRESETS;
export const RETRY_PRESET_NAMES = Object.keys(RETRY_PRESETS) as RetryPresetName[];

/** Settings that are filled in when the preset is named, and belong to the endpoint from then on. */
export const ENDPOINT_PRESETS = {
  /** Follows Standard Webhooks 1.0.0: its signature, envelope and example schedule; every response but 2xx is a failure. */
  "standard-webhooks": {
    format: "envelope",
    signature: { schemes: ["standard-webhooks"] },
    timeoutMs: 20 * SECOND,
    retryOn: "every",
    retryPolicy: {
      kind: "gaps",
      gapsMs: [
        5 * SECOND,
        5 * MINUTE,
        30 * MINUTE,
        2 * HOUR,
        5 * HOUR,
        10 * HOUR,
        14 * HOUR,
        20 * HOUR,
        24 * HOUR,
      ],
    },
  },
} as const;

export type EndpointPreset = keyof typeof ENDPOINT_PRESETS;
export const ENDPOINT_PRESET_NAMES = Object.keys(ENDPOINT_PRESETS) as [EndpointPreset, ...EndpointPreset[]];
