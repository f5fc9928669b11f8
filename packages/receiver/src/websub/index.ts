// `@posthorn/receiver/websub`: subscribes to topics by WebSub (W3C) and passes their content to a receiver.
export type { WebSubContent } from "./content-source.ts";
export type { Fetch } from "./http.ts";
export type { SubscriberOptions } from "./options.ts";
export { createSubscriber, type Subscriber } from "./subscriber.ts";
export type {
  ClaimDueOptions,
  ConfirmOptions,
  HubTopic,
  Subscription,
  SubscriptionMode,
  SubscriptionStore,
} from "./subscription.ts";
