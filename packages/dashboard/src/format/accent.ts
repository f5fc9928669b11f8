// Derives readable colours from the portal's configured accent colour.

export interface Accent {
  /** The configured colour, for button backgrounds. */
  readonly ground: string;
  readonly onGround: string;
  /** The colour for text and lines, darkened or lightened until it is readable. */
  readonly ink: string;
}

type Colour = readonly [red: number, green: number, blue: number];

const BLACK: Colour = [0, 0, 0];
const WHITE: Colour = [255, 255, 255];
/** Minimum contrast of text of any size: WCAG 2.2, 1.4.3. */
export const READABLE = 4.5;
/** The background with the least contrast per theme: `--color-raised` in tokens.css. */
export const HARDEST_GROUNDS = { light: "#f4f4f5", dark: "#1f1f23" } as const;
const STEPS = 40;

export function accentFor(theme: "light" | "dark", chosen: string): Accent {
  const colour = read(chosen);
  const ground = read(HARDEST_GROUNDS[theme]);
  const towards = theme === "light" ? BLACK : WHITE;
  let ink = colour;
  for (let step = 1; ratio(ink, ground) < READABLE && step <= STEPS; step += 1) {
    ink = mix(colour, towards, step / STEPS);
  }
  const onGround = ratio(WHITE, colour) >= ratio(BLACK, colour) ? WHITE : BLACK;
  return { ground: write(colour), onGround: write(onGround), ink: write(ink) };
}

/** The contrast ratio, from 1 to 21. */
export function contrast(one: string, other: string): number {
  return ratio(read(one), read(other));
}

function ratio(one: Colour, other: Colour): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** WCAG 2.2, "relative luminance". */
function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(from: Colour, to: Colour, share: number): Colour {
  return from.map((value, index) => Math.round(value + ((to[index] as number) - value) * share)) as never;
}

function read(hex: string): Colour {
  return [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as never;
}

function write(colour: Colour): string {
  return `#${colour.map((value) => value.toString(16).padStart(2, "0")).join("")}`;
}
