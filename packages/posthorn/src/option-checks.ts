// Checks the values of options. An error names the option and the value it has.
import { parseRange } from "./attempt/guard/guard-address.ts";
import type { IpRange } from "./attempt/guard/ip-address.ts";
import { PosthornError } from "./errors.ts";

/** Bounds and default of an option that is a whole number. */
export interface NumericOption {
  readonly min: number;
  readonly max: number;
  readonly default: number;
}

export function within(name: string, value: number, { min, max }: Omit<NumericOption, "default">): number {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw invalid(`${name} must be a whole number from ${min} to ${max}; it is ${shown(value)}.`);
  }
  return value;
}

/** Returns the options that are numbers, with the defaults of those that are not given. */
export function readNumbers<Name extends string>(
  options: { readonly [Key in NoInfer<Name>]?: number | undefined },
  bounds: Readonly<Record<Name, NumericOption>>,
  prefix = "",
): Record<Name, number> {
  const names = Object.keys(bounds) as Name[];
  const read = names.map((name) => [
    name,
    within(prefix + name, options[name] ?? bounds[name].default, bounds[name]),
  ]);
  return Object.fromEntries(read);
}

/** Rejects strings, because "false" from the environment would count as true. */
export function yesOrNo(name: string, value: boolean): boolean {
  if (typeof value !== "boolean") throw invalid(`${name} must be true or false; it is ${shown(value)}.`);
  return value;
}

export function oneOf<Value extends string>(name: string, value: Value, allowed: readonly Value[]): Value {
  if (!allowed.includes(value)) {
    throw invalid(`${name} must be one of ${allowed.join(", ")}; it is ${shown(value)}.`);
  }
  return value;
}

export function readRanges(name: string, texts: readonly string[] | undefined): readonly IpRange[] {
  try {
    return [...(texts ?? [])].map(parseRange);
  } catch (error) {
    throw invalid(`${name}: ${(error as Error).message}`);
  }
}

/** Names the type of a string, which would otherwise look like a number. */
export function shown(value: unknown): string {
  return typeof value === "string" ? `the string "${value.slice(0, 60)}"` : String(value);
}

export function invalid(message: string): PosthornError {
  return new PosthornError("invalid_config", message);
}
