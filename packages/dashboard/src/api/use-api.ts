// Loads data with an operation of the API: `useApi("tenants.get", { tenant })`.
import type { PosthornClient } from "@posthorn/client/web";
import { type QueryKey, type UseQueryOptions, type UseQueryResult, useQuery } from "@tanstack/react-query";
import { api } from "./client.ts";

type Resource = keyof PosthornClient & string;
export type Operation = { [Name in Resource]: `${Name}.${keyof PosthornClient[Name] & string}` }[Resource];
type Call<Op extends Operation> = Op extends `${infer Name extends Resource}.${infer Method}`
  ? PosthornClient[Name][Method & keyof PosthornClient[Name]]
  : never;
type Callable<Input, Result> = (input: Input & { readonly signal?: AbortSignal }) => Promise<Result>;
export type InputOf<Op extends Operation> =
  Call<Op> extends Callable<infer Input, unknown> ? Omit<Input, "signal"> : never;
export type ResultOf<Op extends Operation> = Call<Op> extends Callable<never, infer Result> ? Result : never;

type Options<Data> = Pick<
  UseQueryOptions<Data>,
  "enabled" | "placeholderData" | "refetchInterval" | "staleTime"
>;

export function useApi<Op extends Operation>(
  operation: Op,
  input: InputOf<Op>,
  options: Options<ResultOf<Op>> = {},
): UseQueryResult<ResultOf<Op>> {
  const queryKey = apiKey(operation, input);
  return useQuery({ queryKey, queryFn: ({ signal }) => call(operation, input, signal), ...options });
}

export function call<Op extends Operation>(
  operation: Op,
  input: InputOf<Op>,
  signal: AbortSignal,
): Promise<ResultOf<Op>> {
  const [resource, method] = operation.split(".") as [Resource, never];
  const request: Callable<InputOf<Op>, ResultOf<Op>> = api[resource][method];
  return request({ ...input, signal });
}

export function apiKey<Op extends Operation>(operation: Op, input: InputOf<Op>): QueryKey {
  return [operation, input];
}
