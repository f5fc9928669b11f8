// Bun, `deno serve` and Cloudflare Workers run this file unchanged.
import { receiver } from "./receiver.ts";

export default { fetch: receiver.fetch };
