// Values of options, checked: what is wrong with one is said with its name and with what it is.
import { parseRanges } from "./attempt/guard/guard-address.ts";
import type { IpRange } from "./attempt/guard/ip-address.ts";
import { PosthornError } from "./errors.ts";

export function within(name: string, value: number, least: number, most: number): number {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw invalid(`${name} must be a whole number from ${least} to ${most}; it is ${shown(value)}.`);
  }
  return value;
}

/** "false" is true in JavaScript: what comes from the environment must be read, not passed on. */
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
    return parseRanges([...(texts ?? [])]);
  } catch (error) {
    throw invalid(`${name}: ${(error as Error).message}`);
  }
}

/** `"10"` and 10 look the same without their type. */
export function shown(value: unknown): string {
  return typeof value === "string" ? `the string "${value.slice(0, 60)}"` : String(value);
}

export function invalid(message: string): PosthornError {
  return new PosthornError("invalid_config", message);
}
