// Checks the values of options. An error names each wrong option and the value it has.
import { parseRange } from "./attempt/guard/guard-address.ts";
import type { IpRange } from "./attempt/guard/ip-address.ts";
import { allMessages, type InputProblem, PosthornError, throwProblems } from "./errors.ts";

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

/** Collects the problems of options, so that one error reports all of them. */
export class OptionCheck {
  readonly problems: InputProblem[] = [];

  /** Returns the fallback if the option is wrong; then `finish` throws before the value is used. */
  read<T>(option: string, read: () => T, fallback?: T): T {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof PosthornError)) throw error;
      const { message, problems } = error;
      const place = option.replace(/^(?=.)|\./g, "/");
      const found = problems.length > 0 ? problems : [{ pointer: "", message }];
      this.problems.push(...found.map((problem) => ({ ...problem, pointer: place + problem.pointer })));
      return fallback as T;
    }
  }

  finish(): void {
    throwProblems("invalid_config", this.problems, allMessages);
  }
}

/** Returns the options that are numbers, with the defaults of those that are not given. */
export function readNumbers<Name extends string>(
  check: OptionCheck,
  options: { readonly [Key in NoInfer<Name>]?: number | undefined },
  bounds: Readonly<Record<Name, NumericOption>>,
  prefix = "",
): Record<Name, number> {
  const names = Object.keys(bounds) as Name[];
  const read = names.map((name) => {
    const place = prefix + name;
    return [
      name,
      check.read(place, () => within(place, options[name] ?? bounds[name].default, bounds[name])),
    ];
  });
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
