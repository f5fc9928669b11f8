// What to run, and how long.
import { parseArgs } from "node:util";
import { didYouMean } from "@posthorn/wire";
import { type PlantName, plantNames } from "./plant.ts";

export interface Options {
  readonly seed: number;
  readonly scale: Scale;
  readonly plant: PlantName | null;
  /** The planted bug, or every one in turn, must be caught. */
  readonly isProof: boolean;
  /** The logs stay where they are, whatever the verdict. */
  readonly keepsLogs: boolean;
}

/** How much of everything. */
export interface Scale {
  /** Nothing is broken yet: what is measured here is what the rest is compared with. */
  readonly quietMs: number;
  /** Then one receiver takes every request and answers none, while the others are well. */
  readonly blackHoleMs: number;
  readonly chaosMs: number;
  /** After the healing everything must be delivered within this. */
  readonly convergeMs: number;
  /** Events are published once more when it is: everything must be as it was in the quiet. */
  readonly calmMs: number;
  readonly eventsPerSecond: number;
  readonly leaseMs: number;
  readonly timeoutMs: number;
  /** Gaps between attempts; the last one is repeated. */
  readonly gapsMs: readonly number[];
  /** Between two strikes. */
  readonly pauseMs: readonly [least: number, most: number];
  /** All receivers away at once, somewhere in the middle. */
  readonly outageMs: number;
}

export const maxAttempts = 60;

export function scaleOf(seconds: number, eventsPerSecond: number): Scale {
  return {
    quietMs: 20_000,
    blackHoleMs: 10_000,
    chaosMs: seconds * 1_000 - 40_000,
    convergeMs: 60_000,
    calmMs: 10_000,
    eventsPerSecond,
    leaseMs: 4_000,
    timeoutMs: 2_000,
    gapsMs: [200, 500, 1_000, 2_000, 4_000, 8_000],
    pauseMs: [1_000, 4_000],
    outageMs: 20_000,
  };
}

/** 45 s in all on two cores that are not alone: start, quiet, strikes, healing. */
export function smokeScale(eventsPerSecond: number): Scale {
  return {
    quietMs: 4_000,
    blackHoleMs: 4_000,
    chaosMs: 20_000,
    convergeMs: 30_000,
    calmMs: 2_000,
    eventsPerSecond,
    leaseMs: 2_000,
    timeoutMs: 2_000,
    gapsMs: [200, 500, 1_000, 2_000],
    pauseMs: [600, 1_500],
    outageMs: 0,
  };
}

/** For a planted bug. Nobody waits for what it lost; and one that needs no strikes shows at once. */
export function plantScale(eventsPerSecond: number, needsStrikes: boolean): Scale {
  const smoke = { ...smokeScale(eventsPerSecond), convergeMs: 8_000 };
  return needsStrikes
    ? smoke
    : { ...smoke, quietMs: 1_000, blackHoleMs: 0, chaosMs: 5_000, convergeMs: 4_000, calmMs: 0 };
}

const usage = `npm run chaos -- [--seed N] [--seconds N] [--rate N] [--smoke] [--plant bug] [--prove] [--keep]
  --seed     chooses every fault and every event; the same seed gives the same plan. Unless given, one is drawn
  --seconds  how long events are published, 60 or more; 180 unless given. Up to a minute more to heal
  --rate     events a second; 60 unless given, 40 with --smoke
  --smoke    the short run of npm test, about 45 s
  --plant    breaks the engine on purpose and must end red: ${plantNames.join(", ")}
  --prove    every bug in turn, or the one to plant, in short runs with up to three seeds; fails unless each is caught
  --keep     keeps the logs also when all is well`;

const optionTypes = {
  seed: { type: "string" },
  seconds: { type: "string" },
  rate: { type: "string" },
  smoke: { type: "boolean", default: false },
  plant: { type: "string" },
  prove: { type: "boolean", default: false },
  keep: { type: "boolean", default: false },
  help: { type: "boolean", default: false },
} as const;

/** Null when there is nothing to run: usage was asked for, or an option is not known. */
export function readOptions(args: readonly string[]): Options | null {
  try {
    refuseUnknownOptions(args);
    const { values } = parseArgs({ args: [...args], options: optionTypes });
    if (!values.help) return toOptions(values);
    console.log(usage);
  } catch (error) {
    console.error(`${(error as Error).message}\n${usage}`);
    process.exitCode = 1;
  }
  return null;
}

function refuseUnknownOptions(args: readonly string[]): void {
  const known = Object.keys(optionTypes);
  const { tokens } = parseArgs({ args: [...args], options: optionTypes, strict: false, tokens: true });
  for (const token of tokens) {
    if (token.kind === "positional") throw new Error(`There is nothing to do with "${token.value}".`);
    if (token.kind !== "option" || known.includes(token.name)) continue;
    throw new Error(`There is no option ${token.rawName}. ${didYouMean(token.name, known)}`);
  }
}

function toOptions(values: {
  readonly seed?: string | undefined;
  readonly seconds?: string | undefined;
  readonly rate?: string | undefined;
  readonly smoke: boolean;
  readonly plant?: string | undefined;
  readonly prove: boolean;
  readonly keep: boolean;
}): Options {
  if (values.smoke && values.seconds !== undefined) throw new Error("--smoke has a length of its own.");
  const rate = whole("--rate", values.rate ?? (values.smoke ? "40" : "60"), 1, 1_000);
  return {
    seed: whole("--seed", values.seed ?? String(Date.now() % 1_000_000), 0, 2 ** 32 - 1),
    scale: values.smoke
      ? smokeScale(rate)
      : scaleOf(whole("--seconds", values.seconds ?? "180", 60, 3_600), rate),
    plant: values.plant === undefined ? null : readPlant(values.plant),
    isProof: values.prove,
    keepsLogs: values.keep,
  };
}

function whole(name: string, text: string, least: number, most: number): number {
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= least && value <= most) return value;
  throw new Error(`${name} must be a whole number from ${least} to ${most}; it is "${text}".`);
}

function readPlant(text: string): PlantName {
  const name = plantNames.find((known) => known === text);
  if (name === undefined)
    throw new Error(`There is no bug "${text}" to plant. ${didYouMean(text, plantNames)}`);
  return name;
}
