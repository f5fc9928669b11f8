// Translates the driver's errors where they leave the library: an unreachable database is one code, and the driver's error
// is its cause. Inside, the engine uses the driver's errors.
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
  // without an address, because callers of the server see it
  return new PosthornError(
    "database_unavailable",
    "The database cannot be reached or does not accept writes right now. Try again in a moment; the error's cause says what is wrong.",
    { cause: error },
  );
}

/** Returns the resource with the errors of its methods translated. */
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
