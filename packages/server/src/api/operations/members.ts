import type { PosthornContract } from "@posthorn/client";
import type { Posthorn } from "posthorn";
import type { Handlers } from "../implement.ts";
import { inLibraryNames } from "../input/library-names.ts";
import { presentKey } from "../present/key.ts";
import { presentMember } from "../present/member.ts";
import { presentPage } from "../present/page.ts";

export function memberOperations({ members, keys }: Posthorn): Handlers<PosthornContract>["members"] {
  return {
    list: async ({ params, query }) => presentPage(await members.list(params.tenant, query), presentMember),
    put: async ({ params, body }) =>
      presentMember(await members.put(params.tenant, params.user, inLibraryNames(body))),
    get: async ({ params }) => presentMember(await members.get(params.tenant, params.user)),
    delete: async ({ params }) => {
      await members.delete(params.tenant, params.user);
      return undefined;
    },
    createToken: async ({ params, body }) => {
      const { key, text } = await keys.createToken(params.tenant, params.user, inLibraryNames(body));
      return { ...presentKey(key), key: text };
    },
  };
}
