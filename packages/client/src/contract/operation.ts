// The definition of an API operation: input, response and permission. The server implements it, the OpenAPI document is
// generated from it, and the client calls it.
import type { z } from "zod";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** Permissions of a key. `admin` includes all others. */
export const SCOPES = [
  "events:publish",
  "webhooks:manage",
  "deliveries:read",
  "deliveries:retry",
  "payloads:read",
  "admin",
] as const;
export type Scope = (typeof SCOPES)[number];

/** Permissions of a member's tokens by role. */
export const ROLE_SCOPES = {
  owner: ["webhooks:manage", "deliveries:read", "deliveries:retry", "payloads:read"],
  admin: ["webhooks:manage", "deliveries:read", "deliveries:retry", "payloads:read"],
  member: ["deliveries:read"],
} as const satisfies Record<string, readonly Scope[]>;
export type Role = keyof typeof ROLE_SCOPES;

export interface Permission {
  /** The key needs one of these. */
  readonly scopes: readonly [Scope, ...Scope[]];
  /**
   * `tenant`: a key of a tenant may call it and has access to that tenant only. `installation`: only a key without a
   * tenant may call it.
   */
  readonly reach: "tenant" | "installation";
}

export interface Operation {
  readonly method: Method;
  /** Segments in braces are parameters, as in `/tenants/{tenant}`. */
  readonly path: `/api/v1/${string}`;
  /** One sentence without a full stop. */
  readonly summary: string;
  /** Further sentences for the OpenAPI description. */
  readonly remark?: string;
  /** `public` operations authenticate by their body. */
  readonly permission: Permission | "public";
  readonly query?: z.ZodObject;
  /** Documented headers. The server does not check them against this schema. */
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** Alternative bodies by content type. */
  readonly otherBodies?: Readonly<Record<string, z.ZodType>>;
  /** True for a read-only operation that is not a GET because its input does not fit into a URL. */
  readonly isQuestion?: true;
  /**
   * A parameter of a GET that, if it is true, also needs all of these scopes and is recorded in the audit log.
   */
  readonly privilege?: { readonly parameter: string; readonly scopes: readonly Scope[] };
  /** True if a missing body counts as an empty object. */
  readonly isBodyOptional?: true;
  readonly answer: Answer;
  /** Error codes of this operation by status, without those common to all operations. */
  readonly refusals?: Readonly<Partial<Record<404 | 409 | 413 | 422, readonly string[]>>>;
}

export interface Answer {
  readonly status: 200 | 201 | 202 | 204;
  /** Null if the response has no body. */
  readonly schema: z.ZodType | null;
}

/** Checks an operation and keeps its literal types. */
export function operation<const Given extends Operation>(given: Given): Given {
  return given;
}

export type Contract = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** Names of the path parameters. */
export type PathParams<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParams<Rest>
  : never;

export type BodyOf<Given extends Operation> = Given["body"] extends z.ZodType
  ? z.output<Given["body"]>
  : undefined;

export type QueryOf<Given extends Operation> = Given["query"] extends z.ZodType
  ? z.output<Given["query"]>
  : undefined;

export type AnswerOf<Given extends Operation> = Given["answer"]["schema"] extends z.ZodType
  ? z.output<Given["answer"]["schema"]>
  : undefined;
