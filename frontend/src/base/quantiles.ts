/** Order statistics of measured values. */
import type { Measured } from "./numbers";

/** The measured values in ascending order. */
export function sorted(values: readonly Measured[]): number[] {
  return values.filter((value): value is number => value !== null).sort((a, b) => a - b);
}

/** The value below which a share of the sorted values lies, interpolated; NaN of none. */
export function quantile(ascending: readonly number[], share: number): number {
  if (ascending.length === 0) return Number.NaN;
  const place = share * (ascending.length - 1);
  const below = Math.floor(place);
  const low = ascending[below] as number;
  const high = ascending[Math.min(ascending.length - 1, below + 1)] as number;
  return low + (high - low) * (place - below);
}

export const median = (values: readonly Measured[]): number => quantile(sorted(values), 0.5);
