// Settings that go together, under one name. They are filled in where they are asked for, and are the endpoint's own from
// then on: what is given beside the name counts for more.
import { isObject } from "@posthorn/wire";
import type { Refuse } from "./settings-check.ts";

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

export const ENDPOINT_PRESETS = {
  /** What Standard Webhooks 1.0.0 advises: its signature, envelope and example schedule, every answer but 2xx a failure. */
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

export const PRESET_NAMES = Object.keys(ENDPOINT_PRESETS) as EndpointPreset[];

/** The settings with those of their preset under them; as they are without one, or with one that there is not. */
export function withPreset(input: unknown): unknown {
  if (!isObject(input)) return input;
  const name = PRESET_NAMES.find((known) => known === input.preset);
  if (name === undefined) return input;
  const given = Object.entries(input).filter(([, value]) => value !== undefined);
  return { ...ENDPOINT_PRESETS[name], ...Object.fromEntries(given) };
}

export function readPreset(value: unknown, refuse: Refuse): EndpointPreset | undefined {
  const found = PRESET_NAMES.find((name) => name === value);
  return found ?? refuse(`Choose one of ${PRESET_NAMES.join(", ")}, or leave it out.`);
}
