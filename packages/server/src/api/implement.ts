// Makes routes of the contract and of the functions that carry it out. What comes in is checked against the schema of
// its operation before the function sees it; an operation without a function does not compile, and does not start.
import {
  type AnswerOf,
  type BodyOf,
  type Contract,
  type Operation,
  operationsOf,
  type PathParams,
  type QueryOf,
} from "@posthorn/client";
import type { Audit } from "./audit.ts";
import type { Exchange } from "./exchange.ts";
import { readBody, refuseBody } from "./input/body.ts";
import { NO_PARAMETERS, readQuery } from "./input/query.ts";
import { type Principal, requireScopes } from "./principal.ts";
import { json, noContent, type Reply } from "./reply.ts";
import type { Route } from "./router.ts";

export interface Call<Given extends Operation> {
  readonly params: Readonly<Record<PathParams<Given["path"]>, string>>;
  readonly query: QueryOf<Given>;
  readonly body: BodyOf<Given>;
  readonly principal: Principal;
  readonly exchange: Exchange;
}

/** What an answer is made from: times may still be dates. */
export type Sent<Value> = Value extends string
  ? Value | Date
  : Value extends readonly (infer Item)[]
    ? readonly Sent<Item>[]
    : Value extends object
      ? { readonly [Name in keyof Value]: Sent<Value[Name]> }
      : Value;

export type Handle<Given extends Operation> =
  | ((call: Call<Given>) => Promise<Sent<AnswerOf<Given>> | JsonText | WithHeaders<Given>>)
  | LargeResponse<Given>
  | RawHandler;

/** An answer that is JSON already, because bytes in it must stay as they are. */
export class JsonText {
  readonly text: string;
  readonly headers: readonly string[];

  constructor(text: string, headers: readonly string[] = []) {
    this.text = text;
    this.headers = headers;
  }
}

/** An answer with headers of its own. */
export class WithHeaders<Given extends Operation> {
  readonly answer: Sent<AnswerOf<Given>>;
  readonly headers: readonly string[];

  constructor(answer: Sent<AnswerOf<Given>>, headers: readonly string[]) {
    this.answer = answer;
    this.headers = headers;
  }
}

/** Answers with what callers have stored, and as much of it as fits into a page. */
export class LargeResponse<Given extends Operation> {
  readonly handle: (call: Call<Given>) => Promise<Sent<AnswerOf<Given>> | JsonText>;

  constructor(handle: LargeResponse<Given>["handle"]) {
    this.handle = handle;
  }
}

/** Reads the request by itself, because the bytes of its body count, or because it says who asks. */
export class RawHandler {
  readonly handle: (exchange: Exchange) => Promise<JsonText>;
  /** Takes in what has to be delivered: refused while the server stops, so that it is sent elsewhere. */
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

/** `audit` goes around every operation that changes something; what is published is its own record. */
export function implement<Given extends Contract>(
  contract: Given,
  handlers: Handlers<Given>,
  audit: Audit,
): Route[] {
  return operationsOf(contract).map(([id, operation]) => {
    const [resource = "", name = ""] = id.split(".");
    const handle = (handlers as Handlers<Contract>)[resource]?.[name];
    if (handle === undefined) throw new Error(`Nothing implements the operation ${id}.`);
    return routeOf(id, operation, handle, audit);
  });
}

function routeOf(id: string, operation: Operation, given: Handle<Operation>, audit: Audit): Route {
  const { method, path, permission, answer } = operation;
  if (given instanceof RawHandler) {
    const { isRefusedWhileDraining } = given;
    const reply = async (exchange: Exchange) => {
      if (exchange.query !== "") readQuery(exchange.query, operation.query ?? NO_PARAMETERS);
      return replyOf(answer.status, await given.handle(exchange));
    };
    return { method, path, permission, isRefusedWhileDraining, handle: reply };
  }
  const hasLargeResponse = given instanceof LargeResponse;
  const handle = hasLargeResponse ? given.handle : given;
  return {
    method,
    path,
    permission,
    hasLargeResponse,
    handle: async (exchange) => {
      const query: unknown = readQuery(exchange.query, operation.query ?? NO_PARAMETERS);
      const body = operation.body
        ? await readBody(exchange, operation, operation.body)
        : await refuseBody(exchange, operation);
      const { principal } = exchange;
      const call = { params: exchange.params, query, body, principal, exchange } as Call<Operation>;
      const carryOut = () => handle(call);
      const { privilege } = operation;
      if (privilege !== undefined && isAskedFor(privilege, query)) {
        requireScopes(principal, privilege.scopes);
        return replyOf(answer.status, await audit(exchange, id, query, carryOut));
      }
      const isQuestion = method === "GET" || operation.isQuestion === true;
      const result = isQuestion ? await carryOut() : await audit(exchange, id, body, carryOut);
      return replyOf(answer.status, result);
    },
  };
}

function isAskedFor({ parameter }: NonNullable<Operation["privilege"]>, query: unknown): boolean {
  return (query as Record<string, unknown>)[parameter] === true;
}

function replyOf(status: Operation["answer"]["status"], answer: unknown): Reply {
  if (answer instanceof WithHeaders) return { ...replyOf(status, answer.answer), headers: answer.headers };
  if (status === 204) return noContent;
  if (answer instanceof JsonText) return { status, body: answer.text, headers: answer.headers };
  return json(status, answer);
}
