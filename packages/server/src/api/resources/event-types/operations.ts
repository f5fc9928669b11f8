import type { PosthornContract } from "@posthorn/client";
import { type Posthorn, PosthornError } from "posthorn";
import { type Handlers, LargeResponse } from "../../implement.ts";
import { toCamelCase } from "../../input/names.ts";
import { presentPage } from "../../present.ts";
import { isPosthornError } from "../../problem.ts";
import { presentEventType } from "./present.ts";

export function eventTypeOperations({ eventTypes }: Posthorn): Handlers<PosthornContract>["eventTypes"] {
  return {
    list: new LargeResponse(async ({ query }) => presentPage(await eventTypes.list(query), presentEventType)),
    put: async ({ params, body }) => presentEventType(await eventTypes.put(params.name, toCamelCase(body))),
    get: async ({ params, query }) => {
      const type = await eventTypes.get(params.name, { apiVersion: query.api_version });
      return { ...presentEventType(type), versions: type.versions };
    },
    delete: async ({ params, query }) => {
      await eventTypes.delete(params.name, { apiVersion: query.api_version });
      return undefined;
    },
    import: async ({ body }) => {
      const imported = await eventTypes.import(body.document, { dryRun: body.dry_run }).catch(inDocument);
      return {
        data: imported.map(({ name, apiVersion, change }) => ({ name, api_version: apiVersion, change })),
      };
    },
    export: new LargeResponse(
      async ({ query }) => await eventTypes.export(query.format, { type: query.type }),
    ),
  };
}

/** The library points into the document, which is a field of the body. */
function inDocument(error: unknown): never {
  if (!isPosthornError(error)) throw error;
  const problems = error.problems.map((problem) => ({ ...problem, pointer: `/document${problem.pointer}` }));
  throw new PosthornError(error.code, error.message, { problems, cause: error });
}
