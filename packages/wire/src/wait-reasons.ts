// What a delivery can wait for. The view posthorn.waits decides; every front end has a text for each (tests compare).

export const WAIT_REASONS = [
  "retry_delay",
  "circuit",
  "rate_limit",
  "cap",
  "ordering",
  "handshake",
  "endpoint_disabled",
  "tenant_off",
  "sending_off",
] as const;

export type WaitReason = (typeof WAIT_REASONS)[number];
