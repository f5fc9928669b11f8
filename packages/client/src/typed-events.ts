// Events whose data has the type of their name and version, from the types that `posthorn catalog types` generates.
import type { z } from "zod";
import type { eventInput, userEventInput } from "./contract/events.ts";

/** Any events: the type parameter of a client without generated types. */
export type AnyEvents = { readonly [type: string]: { readonly [version: string]: unknown } };

/** What `events.publish` takes: an event, an event for a user, or several events. */
export type TypedBody<Events> =
  | TypedEvent<Events, typeof eventInput>
  | TypedEvent<Events, typeof userEventInput>
  | TypedEvent<Events, typeof eventInput>[];

type TypedEvent<Events, Input extends z.ZodType> = {
  [Type in keyof Events & string]: {
    [Version in keyof Events[Type] & string]: Omit<z.input<Input>, "type" | "data" | "api_version"> & {
      readonly type: Type;
      readonly data: Events[Type][Version];
    } & VersionField<Version, keyof Events[Type]>;
  }[keyof Events[Type] & string];
}[keyof Events & string];

/** May be left out if the type has one version. */
type VersionField<Version, Versions> = [Versions] extends [Version]
  ? { readonly api_version?: Version | undefined }
  : { readonly api_version: Version };
