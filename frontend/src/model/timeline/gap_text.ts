/** What is said of steps that are in no record. */

import type { Gap } from "../../api/wire/timeline";
import { count, duration, plural } from "../../base/format";

/** For the place itself. */
export const gapText = (gap: Gap): string => `${plural(gap.steps, "step")} missing`;

const NAMED = 3;

/** For a sentence about the whole run: " (256 steps between 383 and 640, 13 s)". */
export function gapsText(gaps: readonly Gap[]): string {
  if (gaps.length === 0) return "";
  const named = gaps
    .slice(0, NAMED)
    .map(
      (gap) =>
        `${plural(gap.steps, "step")} between ${count(gap.after_step)} and ${count(gap.before_step)}, ${duration(gap.seconds)}`,
    );
  if (gaps.length > NAMED) named.push(plural(gaps.length - NAMED, "other place"));
  return ` (${named.join("; ")})`;
}
