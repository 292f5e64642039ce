/** Which runs stand against which, and what their differences mean. */

import type { Difference, Outcome } from "../../api/wire/comparison";

export interface Sides {
  readonly base: readonly string[];
  readonly runs: readonly string[];
}

/**
 * Runs whose names differ only in the number at their end are repeats of one program, so those
 * like the shown run stand beside it. If none is left to stand against them, all others do.
 */
export function sidesOf(run: string, compared: readonly string[]): Sides {
  const alike = compared.filter((one) => stem(one) === stem(run));
  const base = compared.filter((one) => !alike.includes(one));
  return base.length === 0 ? { base: compared, runs: [run] } : { base, runs: [run, ...alike] };
}

const stem = (run: string): string => run.replace(/[\s._-]*\d+$/, "");

export const isDifferent = (outcome: Outcome): boolean =>
  outcome === "slower" || outcome === "faster" || outcome === "moved";

/** What a term's difference means, in words. */
export function reading({ outcome, base_seconds: before, with_seconds: now }: Difference): string {
  switch (outcome) {
    case "no_difference":
      return "no difference that matters";
    case "not_enough_repeats":
      return "not enough repeats to tell";
    case "moved":
      return "moved: the whole step is no longer";
    default:
      if (before === 0) return "new";
      if (now === 0) return "gone";
      return outcome;
  }
}
