// All operations of the API by resource.
import { activity } from "./activity.ts";
import { auditLog } from "./audit-log.ts";
import { deliveries } from "./deliveries.ts";
import { deliveryContracts } from "./delivery-contracts.ts";
import { deliveryMode } from "./delivery-mode.ts";
import { endpoints } from "./endpoints/endpoints.ts";
import { eventTypes } from "./event-types.ts";
import { events } from "./events.ts";
import { exports } from "./exports.ts";
import { keys } from "./keys.ts";
import { members } from "./members.ts";
import type { Contract } from "./operation.ts";
import { portalLinks } from "./portal-links.ts";
import { replays } from "./replays.ts";
import { resends } from "./resends.ts";
import { session } from "./session.ts";
import { sources } from "./sources.ts";
import { stats } from "./stats.ts";
import { installation } from "./system.ts";
import { tenants } from "./tenants.ts";

export const contract = {
  events,
  eventTypes,
  tenants,
  members,
  endpoints,
  deliveries,
  deliveryContracts,
  replays,
  exports,
  keys,
  auditLog,
  stats,
  resends,
  sources,
  activity,
  system: installation,
  deliveryMode,
  session,
  portalLinks,
} as const satisfies Contract;

export type PosthornContract = typeof contract;
