// `@posthorn/receiver/testing`: signed webhooks for your own tests, with any test runner.
export {
  type Attempt,
  createSender,
  createTestClock,
  type Delivery,
  type EventToSend,
  type Sender,
  type SenderClock,
  type SenderOptions,
  type TestClock,
} from "./sender.ts";
export type { PosthornWebhook } from "./sign-posthorn.ts";
export type { VendorWebhook } from "./sign-vendor.ts";
export { type SignedRequestOptions, signedRequest, signedWebhook } from "./signed-request.ts";
export type { SignedWebhook, WebhookOptions } from "./signed-webhook.ts";
