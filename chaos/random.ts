// Reproducible random numbers. Each named stream of a seed is independent of the others.

export interface Random {
  /** Uniform in [0, 1). */
  fraction(): number;
  /** Uniform in [least, most). */
  between(least: number, most: number): number;
  chance(probability: number): boolean;
  pick<Item>(items: readonly Item[]): Item;
  shuffle<Item>(items: readonly Item[]): Item[];
}

export function stream(seed: number, name: string): Random {
  let state = seed >>> 0;
  // FNV-1a: two names give two starting points
  for (const letter of name) state = Math.imul(state ^ (letter.codePointAt(0) as number), 0x01000193) >>> 0;
  // mulberry32
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number): number => Math.floor(fraction() * count);
  return {
    fraction,
    between: (least, most) => least + fraction() * (most - least),
    chance: (probability) => fraction() < probability,
    pick: (items) => items[below(items.length)] as never,
    shuffle(items) {
      const shuffled = [...items];
      for (let last = shuffled.length - 1; last > 0; last -= 1) {
        const other = below(last + 1);
        [shuffled[last], shuffled[other]] = [shuffled[other] as never, shuffled[last] as never];
      }
      return shuffled;
    },
  };
}
