// Standard Webhooks 1.0.0 with a key pair: the receiver holds nothing that could sign.
import { versionedList } from "./formats.ts";
import type { Scheme } from "./scheme.ts";
import { standardWebhooks } from "./standard-webhooks.ts";

export const standardWebhooksV1a: Scheme = {
  ...standardWebhooks,
  name: "standard-webhooks-v1a",
  algorithm: "ed25519",
  key: "ed25519",
  format: versionedList("v1a"),
  shares: "last",
};
