// Next.js, pages router: pages/api/webhooks.ts
import { nextPagesHandler } from "@posthorn/receiver/next-pages";
import { receiver } from "./receiver.ts";

export const config = { api: { bodyParser: false } };
export default nextPagesHandler(receiver);
