/** The verdict of a run in a list. */

import type { Row } from "./columns";

const SIGNS = { slowdown: "●", slow_start: "◐", healthy: "○", not_enough_steps: "–" } as const;

/** "● slowdown · live", "○ healthy · from scalars". */
export function verdictText({ run, found }: Row): string {
  const isDrawn = run.source === "scalars";
  const live = `${isDrawn ? " · from scalars" : ""}${run.live ? " · live" : ""}`;
  if (found?.digest === null) return `unreadable${live}`;
  const verdict = found?.digest.verdict ?? run.verdict;
  if (verdict === null) return `–${live}`;
  const words = verdict === "not_enough_steps" ? "too few steps" : verdict.replaceAll("_", " ");
  const partly = found?.digest.judged === "partly" && !isDrawn ? ", partly judged" : "";
  return `${SIGNS[verdict]} ${words}${partly}${live}`;
}
