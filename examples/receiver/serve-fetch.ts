// Bun, `deno serve` and Cloudflare Workers take this file as it is.
import { receiver } from "./receiver.ts";

export default { fetch: receiver.fetch };
