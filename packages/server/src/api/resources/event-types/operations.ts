import type { PosthornContract } from "@posthorn/client";
import { type Posthorn, PosthornError } from "posthorn";
import { type Handlers, LargeResponse } from "../../implement.ts";
import { isPosthornError } from "../../problem.ts";

export function eventTypeOperations({ eventTypes }: Posthorn): Handlers<PosthornContract>["eventTypes"] {
  return {
    list: new LargeResponse(({ query }) => eventTypes.list(query)),
    put: ({ params, body }) => eventTypes.put(params.name, body),
    get: ({ params, query }) => eventTypes.get(params.name, query),
    delete: ({ params, query }) => eventTypes.delete(params.name, query),
    import: async ({ body }) => ({
      data: await eventTypes.import(body.document, { dryRun: body.dryRun }).catch(inDocument),
    }),
    export: new LargeResponse(({ query }) => eventTypes.export(query.format, { type: query.type })),
  };
}

/** The library's pointers are relative to the document, which is a field of the body. */
function inDocument(error: unknown): never {
  if (!isPosthornError(error)) throw error;
  const problems = error.problems.map((problem) => ({ ...problem, pointer: `/document${problem.pointer}` }));
  throw new PosthornError(error.code, error.message, { problems, cause: error });
}
