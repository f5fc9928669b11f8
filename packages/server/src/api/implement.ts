// Turns the contract and the functions that implement it into routes. Input is validated against the schema of its
// operation, and the result is presented by the response schema. A missing function is a compile error and fails at start.
import {
  type BodyOf,
  type Contract,
  type ExportFormat,
  type Operation,
  operationsOf,
  type PathParams,
  type QueryOf,
  type ResponseOf,
} from "@posthorn/client";
import type { Logger } from "posthorn";
import type { z } from "zod";
import type { Audit } from "./audit.ts";
import type { Exchange } from "./exchange.ts";
import { exportReply, type Pages } from "./export-stream.ts";
import { readBody, refuseBody } from "./input/body.ts";
import { type ToLibrary, toLibrary } from "./input/names.ts";
import { NO_PARAMETERS, readQuery } from "./input/query.ts";
import { type FromLibrary, present } from "./present.ts";
import { type Principal, requireScopes, scopedTenant } from "./principal.ts";
import { json, noContent, type Reply } from "./reply.ts";
import type { Route, RoutePermission } from "./router.ts";

export interface Call<Given extends Operation> {
  readonly params: Readonly<Record<PathParams<Given["path"]>, string>>;
  readonly query: ToLibrary<QueryOf<Given>>;
  readonly body: ToLibrary<BodyOf<Given>>;
  readonly principal: Principal;
  readonly exchange: Exchange;
}

/** A function that returns what the library returns; the response schema names and selects its fields. */
export type Handle<Given extends Operation> = Given["response"] extends { readonly isExport: true }
  ? ExportHandler<Given>
  : ((call: Call<Given>) => Promise<ResultOf<Given> | JsonText>) | LargeResponse<Given> | RawHandler;

/** The result of an operation without a response body is ignored. */
type ResultOf<Given extends Operation> = Given["response"]["schema"] extends null
  ? unknown
  : FromLibrary<ResponseOf<Given>>;

/** A response that is JSON already, because some of its bytes must not change, or that has additional headers. */
export class JsonText {
  readonly text: string;
  readonly headers: readonly string[];

  constructor(text: string, headers: readonly string[] = []) {
    this.text = text;
    this.headers = headers;
  }
}

/** A handler whose response may be as large as a page; memory for it is reserved before it runs. */
export class LargeResponse<Given extends Operation> {
  readonly handle: (call: Call<Given>) => Promise<FromLibrary<ResponseOf<Given>> | JsonText>;

  constructor(handle: LargeResponse<Given>["handle"]) {
    this.handle = handle;
  }
}

/** A handler that returns pages of rows, which are streamed in the requested format. */
export class ExportHandler<Given extends Operation> {
  readonly pages: (call: Call<Given>) => Pages<FromLibrary<RowOf<Given>>>;

  constructor(pages: ExportHandler<Given>["pages"]) {
    this.pages = pages;
  }
}

type RowOf<Given extends Operation> = Given["response"]["schema"] extends z.ZodType
  ? z.output<Given["response"]["schema"]>
  : never;

/** A handler that reads the request itself, because it needs the exact bytes or authenticates the caller. */
export class RawHandler {
  readonly handle: (exchange: Exchange) => Promise<JsonText>;
  readonly isRefusedWhileDraining: boolean;

  constructor(handle: (exchange: Exchange) => Promise<JsonText>, { isRefusedWhileDraining = false } = {}) {
    this.handle = handle;
    this.isRefusedWhileDraining = isRefusedWhileDraining;
  }
}

export type Handlers<Given extends Contract> = {
  readonly [Resource in keyof Given]: {
    readonly [Name in keyof Given[Resource]]: Handle<Given[Resource][Name]>;
  };
};

/** Returns the routes of a contract. Every operation that changes something is audited, except publishing. */
export function implement<Given extends Contract>(
  contract: Given,
  handlers: Handlers<Given>,
  audit: Audit,
  access: ExportAccess,
): Route[] {
  return operationsOf(contract).map(([id, operation]) => {
    const [resource = "", name = ""] = id.split(".");
    const handle = (handlers as Handlers<Contract>)[resource]?.[name];
    if (handle === undefined) throw new Error(`The operation ${id} is not implemented.`);
    return handle instanceof ExportHandler
      ? exportRouteOf(operation, handle, access)
      : routeOf(id, operation, handle as OtherHandle, audit);
  });
}

/** What exports need besides the handlers. */
export interface ExportAccess {
  readonly logger: Logger | undefined;
  /** Throws if the caller is no longer authorized: its key was revoked or its session has ended. */
  readonly reauthorize: (exchange: Exchange, permission: RoutePermission) => Promise<void>;
}

const REAUTHORIZE_MS = 10_000;

/** Runs the check at most every ten seconds. */
function atIntervals(check: () => Promise<void>): () => Promise<void> {
  let checkedAt = performance.now();
  return async () => {
    if (performance.now() - checkedAt < REAUTHORIZE_MS) return;
    checkedAt = performance.now();
    await check();
  };
}

type OtherHandle = Exclude<Handle<Operation>, ExportHandler<Operation>>;

function exportRouteOf(
  operation: Operation,
  { pages }: ExportHandler<Operation>,
  { logger, reauthorize }: ExportAccess,
): Route {
  const { method, path, permission, response } = operation;
  return {
    method,
    path,
    permission,
    // for the page that is read while the previous one is sent
    hasLargeResponse: true,
    isRefusedWhileDraining: true,
    handle: async (exchange) => {
      await refuseBody(exchange, operation);
      const { format, ...query } = queryOf(operation, exchange) as { format: ExportFormat };
      const { params, principal, requestId } = exchange;
      const call = {
        params,
        query: toLibrary<unknown>(query),
        body: undefined,
        principal,
        exchange,
      } as Call<Operation>;
      const name = path.slice(path.lastIndexOf("/") + 1);
      const schema = response.schema as z.ZodObject;
      return await exportReply(schema, pages(call), {
        format,
        name,
        logger,
        requestId,
        reauthorize: atIntervals(() => reauthorize(exchange, permission)),
      });
    },
  };
}

function routeOf(id: string, operation: Operation, given: OtherHandle, audit: Audit): Route {
  const { method, path, permission } = operation;
  if (given instanceof RawHandler) {
    const { isRefusedWhileDraining } = given;
    const handle = async (exchange: Exchange) => {
      if (exchange.query !== "") readQuery(exchange.query, operation.query ?? NO_PARAMETERS);
      return replyOf(operation, await given.handle(exchange));
    };
    return { method, path, permission, isRefusedWhileDraining, handle };
  }
  const hasLargeResponse = given instanceof LargeResponse;
  const handle = hasLargeResponse ? given.handle : given;
  return {
    method,
    path,
    permission,
    hasLargeResponse,
    handle: async (exchange) => {
      const query = queryOf(operation, exchange);
      const body = operation.body
        ? await readBody(exchange, operation, operation.body)
        : await refuseBody(exchange, operation);
      const { principal } = exchange;
      const call = {
        params: exchange.params,
        query: toLibrary(query),
        body: toLibrary(body),
        principal,
        exchange,
      } as Call<Operation>;
      const run = () => handle(call);
      const { privilege } = operation;
      if (privilege !== undefined && isRequested(privilege, query)) {
        requireScopes(principal, privilege.scopes);
        return replyOf(operation, await audit(exchange, id, query, run));
      }
      const isReadOnly = method === "GET" || operation.isReadOnly === true;
      return replyOf(operation, isReadOnly ? await run() : await audit(exchange, id, body, run));
    },
  };
}

/** Reads the query. The filter `tenant` is that of the caller, unless it may read all tenants. */
function queryOf({ query: schema = NO_PARAMETERS }: Operation, { query, principal }: Exchange): unknown {
  const given: { tenant?: string } = readQuery(query, schema);
  if (schema.shape.tenant === undefined) return given;
  return { ...given, tenant: scopedTenant(principal, given.tenant) };
}

function isRequested({ parameter }: NonNullable<Operation["privilege"]>, query: unknown): boolean {
  return (query as Record<string, unknown>)[parameter] === true;
}

function replyOf(operation: Operation, result: unknown): Reply {
  const { status, schema } = operation.response;
  const headers = result instanceof JsonText ? result.headers : [];
  if (schema === null) return { ...noContent, headers };
  if (result instanceof JsonText) return { status, body: result.text, headers };
  return json(status, present(schema, result));
}
