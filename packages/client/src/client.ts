// The typed client, derived from the contract: `client.endpoints.create({ tenant: "acme", body: { url, events } })`.
import type { z } from "zod";
import type { ClientOptions } from "./call.ts";
import { clientOf } from "./client-of.ts";
import { contract, type PosthornContract } from "./contract/contract.ts";
import type { Contract, Operation, PathParams, ResponseOf } from "./contract/operation.ts";

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

export type PosthornClient = ClientOf<PosthornContract>;

export function createClient(options: ClientOptions): PosthornClient {
  return clientOf(contract, options);
}
