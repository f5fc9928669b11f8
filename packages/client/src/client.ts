// The typed client, derived from the contract: `client.endpoints.create({ tenant: "acme", body: { url, events } })`.
import type { z } from "zod";
import type { ClientOptions } from "./call.ts";
import { clientOf } from "./client-of.ts";
import { contract, type PosthornContract } from "./contract/contract.ts";
import type { Contract, Operation, PathParams, ResponseOf } from "./contract/operation.ts";
import type { AnyEvents, TypedBody } from "./typed-events.ts";

/** Path parameters by name, with query, body, headers and signal. */
export type Input<Given extends Operation> = {
  readonly [Name in PathParams<Given["path"]>]: string;
} & (Given["query"] extends z.ZodType ? { readonly query?: z.input<Given["query"]> } : unknown) &
  (Given["body"] extends z.ZodType
    ? Given["isBodyOptional"] extends true
      ? { readonly body?: z.input<Given["body"]> }
      : { readonly body: z.input<Given["body"]> }
    : unknown) & { readonly headers?: Readonly<Record<string, string>>; readonly signal?: AbortSignal };

type Call<Given extends Operation> =
  Record<never, never> extends Input<Given>
    ? (input?: Input<Given>) => Promise<ResponseOf<Given>>
    : (input: Input<Given>) => Promise<ResponseOf<Given>>;

export type ClientOf<Given extends Contract> = {
  readonly [Resource in keyof Given]: {
    readonly [Name in keyof Given[Resource]]: Given[Resource][Name] extends Operation
      ? Call<Given[Resource][Name]>
      : never;
  };
};

/** `Events` are the types of `posthorn catalog types`; without them, events have any type and data. */
export type PosthornClient<Events extends object = AnyEvents> = AnyEvents extends Events
  ? ClientOf<PosthornContract>
  : Omit<ClientOf<PosthornContract>, "events"> & { readonly events: TypedEvents<Events> };

type Calls = ClientOf<PosthornContract>["events"];

interface TypedEvents<Events> extends Omit<Calls, "publish"> {
  publish(
    input: Omit<Parameters<Calls["publish"]>[0], "body"> & { readonly body: TypedBody<Events> },
  ): ReturnType<Calls["publish"]>;
}

export function createClient<Events extends object = AnyEvents>(
  options: ClientOptions,
): PosthornClient<Events> {
  return clientOf(contract, options) as unknown as PosthornClient<Events>;
}
