// Formats numbers in the user's language.
import type { Language } from "../app/texts.ts";

export function whole(value: number, language: Language): string {
  return new Intl.NumberFormat(language, { maximumFractionDigits: 0 }).format(value);
}

export function share(value: number, language: Language): string {
  // rounds down: 99.96 % must not be shown as 100 %
  const floored = Math.floor(value * 1_000) / 1_000;
  return new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 }).format(floored);
}

/** One significant digit below 1, so that a few per hour are not shown as 0. */
export function rate(perSecond: number, language: Language): string {
  const format: Intl.NumberFormatOptions =
    perSecond < 1 ? { maximumSignificantDigits: 1 } : { maximumFractionDigits: 1 };
  return new Intl.NumberFormat(language, format).format(perSecond);
}

export function bytes(value: number, language: Language): string {
  if (value < 1_024) return `${whole(value, language)} B`;
  const format = new Intl.NumberFormat(language, { maximumFractionDigits: 1 });
  if (value < 1_024 ** 2) return `${format.format(value / 1_024)} KB`;
  return `${format.format(value / 1_024 ** 2)} MB`;
}
