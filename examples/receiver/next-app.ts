// Next.js, app router: app/webhooks/route.ts
import { receiver } from "./receiver.ts";

export const POST = receiver.fetch;
export const OPTIONS = receiver.fetch; // only for the handshake of CloudEvents
