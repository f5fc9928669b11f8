// The registry of vendors: receivers parse their webhooks, and endpoints can sign with their schemes.
import { discord } from "./discord.ts";
import { github } from "./github.ts";
import { gitlab } from "./gitlab.ts";
import { hubspot } from "./hubspot.ts";
import { linear } from "./linear.ts";
import { mux } from "./mux.ts";
import { paddle } from "./paddle.ts";
import { shopify } from "./shopify.ts";
import { slack } from "./slack.ts";
import { square } from "./square.ts";
import { stripe } from "./stripe.ts";
import { svix } from "./svix.ts";
import { twilio } from "./twilio.ts";
import { twitch } from "./twitch.ts";
import type { Vendor } from "./vendor.ts";
import { zoom } from "./zoom.ts";

export const vendors = {
  discord,
  github,
  gitlab,
  hubspot,
  linear,
  mux,
  paddle,
  shopify,
  slack,
  square,
  stripe,
  svix,
  twilio,
  twitch,
  zoom,
} as const satisfies Readonly<Record<string, Vendor>>;

export type VendorName = keyof typeof vendors;
