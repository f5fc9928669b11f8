// The text that `posthorn dev` prints: URLs, the first delivery, and a curl command to try.
import { resolve } from "node:path";
import { quoted } from "../../api/docs/example.ts";
import { settings } from "../../config/settings.ts";
import type { Config } from "../../config.ts";
import { DEFAULT_URL } from "../remote/default-url.ts";
import { DEMO_TENANT, type FirstDelivery, SINK_ID } from "./dev-demo.ts";

export interface BannerInput {
  readonly url: string;
  /** One-time sign-in link for the dashboard, or null. */
  readonly link: string | null;
  readonly key: string | null;
  readonly config: Pick<Config, "dataDir" | "enabled" | "websub">;
  readonly isEmbedded: boolean;
  /** Null if the sink is disabled. */
  readonly delivered: FirstDelivery | null;
}

export function banner(input: BannerInput): string {
  const { url, link, key, config, isEmbedded } = input;
  return [
    "",
    "Posthorn is running.",
    "",
    `  Dashboard   ${link ?? `${url}/`}`,
    ...(link === null
      ? []
      : ["              one-time sign-in link, valid for one hour; later sign in with the admin key"]),
    `  API         ${url}/api/v1`,
    `  Reference   ${url}/docs`,
    ...(config.websub ? [`  WebSub hub  ${url}/websub`] : []),
    `  Admin key   ${key ?? "generated and printed by an earlier start; set POSTHORN_ADMIN_KEY if it is lost"}`,
    `  Database    ${isEmbedded ? `embedded PostgreSQL in ${config.dataDir}` : "from DATABASE_URL"}`,
    "",
    ...deliveryLines(input),
    "Publish another event:",
    "",
    `  curl ${url}/api/v1/events \\`,
    `    -H 'Authorization: Bearer ${key ?? "<admin key>"}' \\`,
    "    -H 'Content-Type: application/json' \\",
    `    -d '{"tenant":"${DEMO_TENANT}","type":"order.paid","data":{"order":1,"total":19.90}}'`,
    "",
    ...(input.delivered
      ? ["Show what arrived (needs no key in dev):", "", `  curl ${url}/sink/${SINK_ID}/requests`, ""]
      : []),
    ...commandLines(input),
    "Ctrl+C stops.",
  ].join("\n");
}

/** Variables that the posthorn command needs in another shell to find the server and its key. */
function commandLines({ url, config: { dataDir }, isEmbedded }: BannerInput): string[] {
  const lines = [
    ...(url === DEFAULT_URL ? [] : [`  export POSTHORN_URL=${url}`]),
    ...(isEmbedded && resolve(dataDir) !== resolve(settings.dataDir.default)
      ? [`  export POSTHORN_DATA_DIR=${quoted(resolve(dataDir))}`]
      : []),
  ];
  return lines.length === 0 ? [] : ["For the posthorn command:", "", ...lines, ""];
}

function deliveryLines({ delivered, config }: BannerInput): string[] {
  if (delivered === null) return [];
  if (config.enabled !== "on") return ["Delivery is disabled by POSTHORN_ENABLED; events are stored.", ""];
  if (delivered.kind === "failed") return [`The demo could not be set up: ${delivered.message}`, ""];
  if (delivered.kind === "waiting")
    return [`${delivered.eventId} was published and has not arrived yet.`, ""];
  const { eventId, type, tookMs, request } = delivered;
  return [
    `Delivered ${eventId} (${type}) to the built-in sink in ${Math.round(tookMs)} ms. It arrived with`,
    "",
    ...Object.entries(request.headers)
      .filter(([name]) => SHOWN_HEADERS.test(name))
      .map(([name, value]) => `  ${name}: ${value}`),
    "",
  ];
}

/** Headers with ids and signatures, with any prefix. */
const SHOWN_HEADERS = /-(id|timestamp|signature|event|attempt)$/;
