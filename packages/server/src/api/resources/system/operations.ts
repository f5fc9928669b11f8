import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import { VERSION } from "../../../version.ts";
import type { Handlers } from "../../implement.ts";

export function systemOperations(
  { system }: Posthorn,
  hasSink: boolean,
): Handlers<PosthornContract>["system"] {
  return {
    get: async () => ({ version: VERSION, hasSink, ...(await system.get()) }),
  };
}
