// At the edge: the types of browsers and nothing of Node's.
import { createReceiver, github, memoryStore } from "@posthorn/receiver";
import { signedRequest } from "@posthorn/receiver/testing";

const receiver = createReceiver({ sources: [github({ secrets: ["secret"] })], store: memoryStore() });
receiver.fallback((event) => console.log(event.type));

export default { fetch: receiver.fetch };
export const request: Promise<Request> = signedRequest({
  vendor: "github",
  secret: "secret",
  payload: {},
  type: "push",
});
