/** What changed here? A selection against the four times longer stretch before it. */

import { quantity, stepTime } from "../../base/format";
import type { Window } from "../timeline/window";

/** How much longer the stretch before is, and below how many rows it says nothing. */
const BEFORE = 4;
const LEAST_ROWS = 3;

/** The rows that the server compares with; undefined where too few come before the selection. */
export function stretchBefore(selection: Window): Window | undefined {
  const length = selection.to - selection.from;
  const from = Math.max(0, selection.from - BEFORE * length);
  return selection.from - from >= LEAST_ROWS ? { from, to: selection.from } : undefined;
}

/** A value of a change in its unit: seconds of a step as step times are written everywhere. */
export function changeText(value: number, unit: string, perStep: boolean): string {
  if (unit === "seconds" && perStep) return stepTime(value);
  return `${quantity(value, unit)}${perStep ? " per step" : ""}`;
}
