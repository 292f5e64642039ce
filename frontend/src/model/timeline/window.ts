/** The part of a run in view or selected: rows `from` (inclusive) to `to` (exclusive). */

export interface Window {
  readonly from: number;
  readonly to: number;
}

const LEAST_ROWS = 4;

export const span = (window: Window): number => window.to - window.from;

export const whole = (rows: number): Window => ({ from: 0, to: Math.max(1, rows) });

/** Moved into a run of `rows` rows, its width kept where it fits, at least 4 rows wide. */
export function clamped(window: Window, rows: number): Window {
  const width = Math.min(rows, Math.max(Math.min(LEAST_ROWS, rows), span(window)));
  const from = Math.min(Math.max(0, window.from), rows - width);
  return { from, to: from + width };
}

/** `factor` below 1 zooms in; the row `pivot` keeps its place on the screen. */
export function zoomed(window: Window, pivot: number, factor: number, rows: number): Window {
  const width = Math.max(LEAST_ROWS, span(window) * factor);
  const share = span(window) > 0 ? (pivot - window.from) / span(window) : 0.5;
  const from = pivot - share * width;
  return clamped({ from, to: from + width }, rows);
}

export const shifted = (window: Window, by: number, rows: number): Window =>
  clamped({ from: window.from + by, to: window.to + by }, rows);

/** With a margin on both sides, so that what was chosen is not glued to the edge. */
export function padded(window: Window, share: number, rows: number): Window {
  const margin = span(window) * share;
  const from = Math.max(0, window.from - margin);
  return clamped({ from, to: Math.min(rows, window.to + margin) }, rows);
}

/** The same steps in rows of which `factor` stand for one of these: whole ones, none cut off. */
export const inRows = (window: Window, factor: number): Window =>
  factor === 1
    ? window
    : { from: Math.floor(window.from * factor), to: Math.ceil(window.to * factor) };

/** From two rows in any order, both inclusive. */
export const between = (a: number, b: number): Window => ({
  from: Math.min(a, b),
  to: Math.max(a, b) + 1,
});

export const contains = (outer: Window, inner: Window): boolean =>
  outer.from <= inner.from + 1e-6 && outer.to >= inner.to - 1e-6;

export const sameWindow = (a: Window | undefined, b: Window | undefined): boolean =>
  a === b || (a !== undefined && b !== undefined && a.from === b.from && a.to === b.to);
