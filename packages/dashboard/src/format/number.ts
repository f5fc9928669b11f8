// Formats numbers in the user's language.
import { currentLanguage } from "../app/texts.ts";

export function whole(value: number): string {
  return new Intl.NumberFormat(currentLanguage(), { maximumFractionDigits: 0 }).format(value);
}

export function share(value: number): string {
  // rounds down: 99.96 % must not be shown as 100 %
  const floored = Math.floor(value * 1_000) / 1_000;
  return new Intl.NumberFormat(currentLanguage(), { style: "percent", maximumFractionDigits: 1 }).format(
    floored,
  );
}

/** One significant digit below 1, so that a few per hour are not shown as 0. */
export function rate(perSecond: number): string {
  const format: Intl.NumberFormatOptions =
    perSecond < 1 ? { maximumSignificantDigits: 1 } : { maximumFractionDigits: 1 };
  return new Intl.NumberFormat(currentLanguage(), format).format(perSecond);
}

export function bytes(value: number): string {
  if (value < 1_024) return `${whole(value)} B`;
  const format = new Intl.NumberFormat(currentLanguage(), { maximumFractionDigits: 1 });
  if (value < 1_024 ** 2) return `${format.format(value / 1_024)} KB`;
  return `${format.format(value / 1_024 ** 2)} MB`;
}
