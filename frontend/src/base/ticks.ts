/** Places for axis labels. */

/** Round numbers between `low` and `high`, about `wanted` of them. */
export function niceTicks(low: number, high: number, wanted: number): number[] {
  if (!(high > low)) return [];
  const step = niceStep((high - low) / Math.max(1, wanted));
  const ticks: number[] = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high + step * 1e-9; index++) {
    ticks.push(index * step + 0); // + 0: no negative zero
  }
  return ticks;
}

/** The smallest of 1, 2, 2.5, 5 times a power of ten that is at least `least`. */
export function niceStep(least: number): number {
  if (!(least > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 2.5, 5, 10].find((factor) => factor * power >= least * (1 - 1e-9)) ?? 10;
  return step * power;
}

/** The end of an axis that begins at zero and holds `value`: 9.24 becomes 10, 11.9 becomes 12. */
export function niceCeiling(value: number): number {
  if (!(value > 0)) return 1;
  const step = niceStep(value / 5);
  return Math.ceil(value / step - 1e-9) * step;
}

/** The same for bytes, round in the unit that is shown. */
export function niceBytes(value: number): number {
  if (!(value > 0)) return 1;
  const unit = 1024 ** Math.min(5, Math.floor(Math.log2(value) / 10));
  return niceCeiling(value / unit) * unit;
}

/** 1, 2 and 5 times powers of ten within [low, high]; only powers of ten over three decades. */
export function logTicks(low: number, high: number): number[] {
  if (!(low > 0) || !(high > low)) return [];
  const decades = Math.log10(high / low);
  const factors = decades > 3 ? [1] : decades > 1 ? [1, 5] : [1, 2, 5];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const factor of factors) {
      const tick = factor * 10 ** power;
      if (tick >= low && tick <= high) ticks.push(tick);
    }
  }
  return ticks;
}

const SPANS_SECONDS = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900,
  1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800,
];

/** Seconds since the start at round distances. */
export function timeTicks(low: number, high: number, wanted: number): number[] {
  if (!(high > low)) return [];
  const least = (high - low) / Math.max(1, wanted);
  const step = SPANS_SECONDS.find((span) => span >= least) ?? 604800;
  const ticks: number[] = [];
  for (let index = Math.ceil(low / step - 1e-9); index * step <= high; index++) {
    ticks.push(index * step + 0); // + 0: no negative zero
  }
  return ticks;
}

/** A moment since the start, as a clock: `0:00`, `1:05:00`, `0.25 s`. */
export function elapsed(seconds: number, step: number): string {
  if (step < 1) return `${seconds.toFixed(step < 0.01 ? 3 : step < 0.1 ? 2 : 1)} s`;
  const total = Math.round(seconds);
  const hours = Math.floor(total / 3600);
  const minutes = Math.floor((total % 3600) / 60);
  const two = (part: number): string => String(part).padStart(2, "0");
  return hours > 0
    ? `${hours}:${two(minutes)}:${two(total % 60)}`
    : `${minutes}:${two(total % 60)}`;
}
