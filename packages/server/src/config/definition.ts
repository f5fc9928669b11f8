// What the table of settings is made of.
import { type CamelCase, camelCase } from "@posthorn/wire";
import type { NumericOption } from "posthorn/internal";
import { type Parser, wholeNumber } from "./parsers.ts";

export interface Definition<T, Default extends T | undefined> {
  readonly parse: Parser<T>;
  readonly default: Default;
  /** The default for the reference page if `default` is undefined. */
  readonly whenUnset?: string;
  readonly description: string;
  /** The value is never shown, not even in error messages. */
  readonly secret?: boolean;
  /** Returns a value as it may be given, if that is not how it is used. */
  readonly written?: (value: unknown) => unknown;
  /** The value is JSON; the settings file has it as a list or map of its own format. */
  readonly isStructured?: boolean;
}

export function setting<T, Default extends T>(
  parse: Parser<T>,
  preset: Default,
  description: string,
): Definition<T, Default> {
  return { parse, default: preset, description };
}

/** A setting without a default here: unset, it has the library's default or the effect that `whenUnset` names. */
export function optional<T>(
  parse: Parser<T>,
  whenUnset: string,
  description: string,
): Definition<T, undefined> {
  return { parse, default: undefined, whenUnset, description };
}

/** Numbers with the bounds and defaults of the library's options; their settings have the same names with a prefix. */
export function numbersOf<Prefix extends string, Name extends string>(
  prefix: Prefix,
  options: Readonly<Record<Name, NumericOption>>,
  descriptions: Readonly<Record<Name, string>>,
) {
  const names = Object.keys(descriptions) as Name[];
  const definitionOf = (name: Name) =>
    optional(wholeNumber(options[name]), String(options[name].default), descriptions[name]);
  return Object.fromEntries(names.map((name) => [camelCase(`${prefix}${name}`), definitionOf(name)])) as {
    [Key in Name as CamelCase<`${Prefix}${Key}`>]: Definition<number, undefined>;
  };
}

export function secret<T>(...args: Parameters<typeof optional<T>>): Definition<T, undefined> {
  return { ...optional(...args), secret: true };
}
