// A receiver of Standard Webhooks on an empty memory store, at the time of `signedDelivery`. It records its reports.
import {
  createReceiver,
  type EventSchemas,
  type FailureInfo,
  memoryStore,
  type ReceiverOptions,
  type RejectedRequest,
  standardWebhooks,
} from "@posthorn/receiver";
import { NOW, secret } from "./signed-delivery.ts";

export function openReceiver(options: Partial<ReceiverOptions<never, EventSchemas>> = {}) {
  const store = memoryStore();
  const rejected: RejectedRequest[] = [];
  const failures: FailureInfo[] = [];
  const receiver = createReceiver({
    sources: [standardWebhooks({ secrets: [secret] })],
    store,
    clock: () => NOW,
    onRejected: (rejection) => rejected.push(rejection),
    onFailure: (failure) => failures.push(failure),
    ...options,
  });
  return { receiver, store, rejected, failures };
}
