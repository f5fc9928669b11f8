// The definition of an API operation: input, response and permission. The server implements it, the OpenAPI document is
// generated from it, and the client calls it.
import type { Scope } from "@posthorn/wire";
import type { z } from "zod";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

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
  readonly isReadOnly?: true;
  /**
   * A parameter of a GET that, if it is true, also needs all of these scopes and is recorded in the audit log.
   */
  readonly privilege?: { readonly parameter: string; readonly scopes: readonly Scope[] };
  /** Default: 256 KB. */
  readonly maxBodyBytes?: number;
  /** True if a missing body counts as an empty object. */
  readonly isBodyOptional?: true;
  readonly response: OperationResponse;
  /** Error codes of this operation by status, without those common to all operations. */
  readonly errors?: Readonly<Partial<Record<404 | 409 | 413 | 422, readonly string[]>>>;
}

export interface OperationResponse {
  readonly status: 200 | 201 | 202 | 204;
  /** Null if the response has no body. */
  readonly schema: z.ZodType | null;
  /** The body is a stream of rows, as NDJSON or CSV; the schema is that of a row. */
  readonly isExport?: true;
}

/** Checks an operation and keeps its literal types. */
export function operation<
  const GivenMethod extends Method,
  const Path extends Operation["path"],
  const Given extends Omit<Operation, "method" | "path">,
>(
  method: GivenMethod,
  path: Path,
  given: Given,
): Given & { readonly method: GivenMethod; readonly path: Path } {
  return { method, path, ...given };
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

/** An export resolves to the `Response`, whose body is a stream. */
export type ResponseOf<Given extends Operation> = Given["response"] extends { readonly isExport: true }
  ? Response
  : Given["response"]["schema"] extends z.ZodType
    ? z.output<Given["response"]["schema"]>
    : undefined;
