import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../../implement.ts";
import { presentSystem } from "./present.ts";

export function systemOperations(
  { system }: Posthorn,
  hasSink: boolean,
): Handlers<PosthornContract>["system"] {
  return {
    get: async () => presentSystem(await system.get(), hasSink),
  };
}
