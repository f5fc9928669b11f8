// The whole API, resource by resource.
import { deliveries } from "./deliveries.ts";
import { endpoints } from "./endpoints.ts";
import { events } from "./events.ts";
import { keys } from "./keys.ts";
import { members } from "./members.ts";
import type { Contract } from "./operation.ts";
import { replays } from "./replays.ts";
import { tenants } from "./tenants.ts";

export const contract = {
  events,
  tenants,
  members,
  endpoints,
  deliveries,
  replays,
  keys,
} as const satisfies Contract;

export type PosthornContract = typeof contract;
