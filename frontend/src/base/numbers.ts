/** Searching in ascending numbers. */

/** How many of `values` (ascending) are at most `limit`: the place after the last of them. */
export function bisectRight(values: ArrayLike<number>, limit: number): number {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] as number) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The index of the last of `values` (ascending) that is at most `limit`, at least 0. */
export const indexAt = (values: ArrayLike<number>, limit: number): number =>
  Math.max(0, bisectRight(values, limit) - 1);

/**
 * The value of a piecewise linear curve through (xs, ys) at `x`; flat beyond its ends.
 *
 * `xs` must ascend and have at least one entry; `ys` is as long.
 */
export function interpolate(xs: ArrayLike<number>, ys: ArrayLike<number>, x: number): number {
  const right = bisectRight(xs, x);
  if (right === 0) return ys[0] as number;
  if (right === xs.length) return ys[xs.length - 1] as number;
  const x0 = xs[right - 1] as number;
  const y0 = ys[right - 1] as number;
  const share = (x - x0) / ((xs[right] as number) - x0);
  return y0 + share * ((ys[right] as number) - y0);
}

export type Measured = number | null;
