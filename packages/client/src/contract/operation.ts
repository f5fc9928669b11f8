// One operation of the API: what it takes, what it answers, and who may ask. The server implements it, OpenAPI is
// written from it, the client calls it.
import type { z } from "zod";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What a key may do. `admin` includes all others. */
export const SCOPES = [
  "events:publish",
  "webhooks:manage",
  "deliveries:read",
  "deliveries:retry",
  "payloads:read",
  "admin",
] as const;
export type Scope = (typeof SCOPES)[number];

/** What a member of a tenant may do with a token of theirs. */
export const ROLE_SCOPES = {
  owner: ["webhooks:manage", "deliveries:read", "deliveries:retry", "payloads:read"],
  admin: ["webhooks:manage", "deliveries:read", "deliveries:retry", "payloads:read"],
  member: ["deliveries:read"],
} as const satisfies Record<string, readonly Scope[]>;
export type Role = keyof typeof ROLE_SCOPES;

export interface Permission {
  /** One of these is enough. */
  readonly scopes: readonly [Scope, ...Scope[]];
  /**
   * `tenant`: a key of one tenant may call it, and sees and changes only what is that tenant's. `installation`: only a
   * key of no tenant may.
   */
  readonly reach: "tenant" | "installation";
}

export interface Operation {
  readonly method: Method;
  /** Segments in braces are parameters: `/tenants/{tenant}`. */
  readonly path: `/api/v1/${string}`;
  /** One sentence without its full stop. */
  readonly summary: string;
  /** What the summary has no room for, in whole sentences. */
  readonly remark?: string;
  /** `public`: who asks is in what they ask. */
  readonly permission: Permission | "public";
  readonly query?: z.ZodObject;
  /** Headers of its own, told of here and read by the server itself. */
  readonly headers?: z.ZodObject;
  readonly body?: z.ZodType;
  /** What it takes instead of that, by content type. */
  readonly otherBodies?: Readonly<Record<string, z.ZodType>>;
  /** Changes nothing although it is no GET: what is asked does not fit into a URL. */
  readonly isQuestion?: true;
  /**
   * A GET whose answer is as good as a deed when this parameter is true: it takes all of these scopes besides, and is in
   * the audit log.
   */
  readonly privilege?: { readonly parameter: string; readonly scopes: readonly Scope[] };
  /** Without a body it is as with an empty one. */
  readonly isBodyOptional?: true;
  readonly answer: Answer;
  /** By status, the codes of errors that are this operation's own; those that any may answer with go without saying. */
  readonly refusals?: Readonly<Partial<Record<404 | 409 | 413 | 422, readonly string[]>>>;
}

export interface Answer {
  readonly status: 200 | 201 | 202 | 204;
  /** Null: there is no body. */
  readonly schema: z.ZodType | null;
}

/** Keeps the type of each part. */
export function operation<const Given extends Operation>(given: Given): Given {
  return given;
}

export type Contract = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

/** The names in braces. */
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
