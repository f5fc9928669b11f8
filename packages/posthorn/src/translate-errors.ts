// Where errors leave the library, the driver's become ours: a database that is away is one code, whatever the operating
// system calls it, and the cause says the rest. Inside, the engine goes by what the driver says.
import { PosthornError } from "./errors.ts";
import { isSchemaMissing, isUnavailable } from "./storage/database.ts";

export function translate(error: unknown): unknown {
  if (error instanceof PosthornError) return error;
  if (isSchemaMissing(error)) {
    return new PosthornError(
      "schema_missing",
      'The database has not been migrated: call migrate() or run "posthorn migrate" first.',
      { cause: error },
    );
  }
  if (!isUnavailable(error)) return error;
  // no addresses in it: it is shown to callers of the server too
  return new PosthornError(
    "database_unavailable",
    "The database cannot be reached or takes no writes right now. Try again in a moment; the error's cause says what is wrong.",
    { cause: error },
  );
}

/** The same methods, each with its errors translated. */
export function translated<Resource extends object>(
  resource: Resource,
  translateError: (error: unknown) => unknown,
): Resource {
  const methods = Object.entries(resource).map(([name, method]) => [
    name,
    async (...input: unknown[]): Promise<unknown> => {
      try {
        return await method(...input);
      } catch (error) {
        throw translateError(error);
      }
    },
  ]);
  return Object.fromEntries(methods) as Resource;
}
