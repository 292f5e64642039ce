/** Which runs stand against which, and what their differences mean. */

import type { Difference, Outcome } from "../../api/wire/comparison";

export interface Sides {
  readonly base: readonly string[];
  readonly runs: readonly string[];
  /** Each side is one program, run several times; else each run has a column. */
  readonly isPooled: boolean;
}

/**
 * Two runs, or several in columns. Only the reader knows which are repeats of one program: then
 * those named like the shown one, but for the number at the end, stand beside it.
 */
export function sidesOf(run: string, compared: readonly string[], repeats: boolean): Sides {
  const isPooled = compared.length === 1 || repeats;
  if (!isPooled) return { base: compared, runs: [run], isPooled };
  const alike = compared.filter((one) => stem(one) === stem(run));
  const base = compared.filter((one) => !alike.includes(one));
  return base.length === 0
    ? { base: compared, runs: [run], isPooled }
    : { base, runs: [run, ...alike], isPooled };
}

const stem = (run: string): string => run.replace(/[\s._-]*\d+$/, "");

export const isDifferent = (outcome: Outcome): boolean =>
  outcome === "slower" || outcome === "faster" || outcome === "moved";

/** What a term's difference means, in words; `total` is that of the whole step. */
export function reading(
  { outcome, base_seconds: before, with_seconds: now }: Difference,
  total: Difference | null,
): string {
  switch (outcome) {
    case "no_difference":
      return "no significant difference";
    case "not_enough_repeats":
      return "not enough repeats";
    case "moved":
      return total !== null && isDifferent(total.outcome)
        ? "moved between categories"
        : "moved between categories, step time unchanged";
    default:
      if (before === 0) return "new";
      if (now === 0) return "gone";
      return outcome;
  }
}
