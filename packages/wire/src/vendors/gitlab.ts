// GitLab: `X-Gitlab-Token: <secret>`, and nothing is signed: a captured request contains the secret. `Idempotency-Key`
// (GitLab 17.4 and newer) is the same for every attempt.
import { verbatim } from "../signature/formats.ts";
import type { Vendor } from "./vendor.ts";

export const gitlab: Vendor = {
  scheme: {
    name: "gitlab",
    algorithm: "token",
    key: "text",
    encoding: "text",
    signedParts: () => [],
    headers: { signature: () => "X-Gitlab-Token" },
    format: verbatim,
    companions: { "X-Gitlab-Event": "type", "X-Gitlab-Event-UUID": "uuid", "Idempotency-Key": "uuid" },
  },
  id: [{ header: "Idempotency-Key" }, { header: "X-Gitlab-Event-UUID" }],
  type: [{ body: ["object_kind"] }, { body: ["event_name"] }, { header: "X-Gitlab-Event" }],
  time: [],
  data: [],
  hasStableBody: true,
};
