// One preset per vendor: its options, and what to know before using it. @posthorn/wire describes the vendors.
import { type Vendor, vendors } from "@posthorn/wire";
import type { Source } from "../source.ts";
import type { SigningOptions } from "./signing-source.ts";
import { type SignedUrlOptions, type UnsignedIdOptions, vendorSource } from "./vendor-source.ts";

function preset<Options extends SigningOptions>(vendor: Vendor): (options: Options) => Source {
  return (options) => vendorSource(vendor, options);
}

/**
 * Discord's webhook events. `secrets` are the application's public keys in hex. Events have no id, so the digest of the body
 * is used: the same event sent again with different bytes counts as another event. Pings are answered automatically.
 * Interactions reach handlers too, but the response to them must go through Discord's REST API.
 */
export const discord = preset<SigningOptions>(vendors.discord);

/**
 * GitHub. `secrets` are the webhook's secrets. The id is `X-GitHub-Delivery` and the type `X-GitHub-Event`. GitHub signs neither
 * of them, nor a timestamp: the id catches GitHub's own redeliveries, but an attacker who has one request can send it again
 * with another id and type. `id: "digest"` prevents that.
 */
export const github = preset<UnsignedIdOptions>(vendors.github);

/**
 * GitLab. `secrets` are the webhook's secret tokens. GitLab sends the token itself and signs nothing: an attacker who has one
 * request can send any other. The id is `Idempotency-Key`, before GitLab 17.4 `X-Gitlab-Event-UUID`; `id: "digest"` uses the
 * digest of the body instead.
 */
export const gitlab = preset<UnsignedIdOptions>(vendors.gitlab);

/**
 * HubSpot with signature v3. `secrets` are the app's client secrets. Each event of a request is a separate message. Its id
 * combines portal, subscription, event and time, all of them signed, because HubSpot does not guarantee that `eventId` is unique.
 */
export const hubspot = preset<SignedUrlOptions>(vendors.hubspot);

/**
 * Linear. `secrets` are the webhook's signing secrets. The id is `Linear-Delivery`, which Linear does not sign. The timestamp in
 * the body is signed, so a request can be replayed with another id only within the tolerance. `id: "digest"` prevents
 * that, but a retry whose body has another timestamp then counts as another event.
 */
export const linear = preset<UnsignedIdOptions>(vendors.linear);

/** Mux. `secrets` are the webhook's signing secrets. The id is the event's, which is signed. */
export const mux = preset<SigningOptions>(vendors.mux);

/** Paddle Billing. `secrets` are the notification destination's, `pdl_ntfset_…`. The id is `event_id`, which is signed. */
export const paddle = preset<SigningOptions>(vendors.paddle);

/**
 * Shopify. `secrets` are the app's client secrets. The id is `X-Shopify-Webhook-Id` and the type `X-Shopify-Topic`. Shopify signs
 * neither of them, nor a timestamp: the id catches Shopify's own retries, but an attacker who has one request can send it
 * again with another id and type. `id: "digest"` prevents that.
 */
export const shopify = preset<UnsignedIdOptions>(vendors.shopify);

/**
 * Slack's Events API, slash commands and interactions. `secrets` are the app's signing secrets. The id is `event_id`, which is
 * signed; commands and interactions have none, so the digest of the body is used. URL verification is answered
 * automatically.
 */
export const slack = preset<SigningOptions>(vendors.slack);

/**
 * Square. `secrets` are the subscription's signature keys; `url` is its notification URL. The id is `event_id`, which is
 * signed. No timestamp is signed, so a request can be replayed after the deduplication window.
 */
export const square = preset<SignedUrlOptions>(vendors.square);

/** Stripe. `secrets` are the endpoint's signing secrets, `whsec_…`. The id is the event's (`evt_…`), which is signed. */
export const stripe = preset<SigningOptions>(vendors.stripe);

/**
 * Senders that use Svix with `svix-*` headers; for `webhook-*` headers use `standardWebhooks()`. `secrets` are `whsec_…`.
 * The id is `svix-id`, which is signed. The type is the payload's `type`, or `message` if it has none.
 */
export const svix = preset<SigningOptions>(vendors.svix);

/**
 * Twilio's status callbacks and other forms, and JSON with `bodySHA256`. `secrets` are auth tokens. Twilio signs neither an id nor
 * a timestamp: the id is the digest of the signed content, so a request can be replayed after the deduplication window.
 * The names and values of a form are signed without separators: do not rely on where an unknown name ends.
 */
export const twilio = preset<SignedUrlOptions>(vendors.twilio);

/** Twitch EventSub. `secrets` are the subscription's secrets. The id is signed. Callback verification is answered automatically. */
export const twitch = preset<SigningOptions>(vendors.twitch);

/**
 * Zoom. `secrets` are the app's secret tokens. Events have no id, so the digest of the body is used. URL validation is
 * answered automatically.
 */
export const zoom = preset<SigningOptions>(vendors.zoom);
