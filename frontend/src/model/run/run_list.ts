/** Finding a run among hundreds. */

import type { Run, RunReport } from "../../api/wire/report";
import type { Measured } from "../../base/numbers";

export type Reports = ReadonlyMap<string, RunReport | Error>;

/**
 * Runs that every word of the filter holds for, newest first: a part of the name, `live`,
 * `scalars`, `lost>10` (percent) or `cause:retracing`. What is not known of a run yet does not match.
 */
export function filtered(runs: readonly Run[], filter: string, reports: Reports): Run[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const newestFirst = [...runs].sort((a, b) => (b.reported ?? 0) - (a.reported ?? 0));
  return newestFirst.filter((run) => words.every((word) => holds(word, run, reports.get(run.run))));
}

function holds(word: string, run: Run, report: RunReport | Error | undefined): boolean {
  const known = report instanceof Error ? undefined : report;
  const more = /^lost>(\d+(?:\.\d+)?)$/.exec(word);
  if (more !== null) return 100 * (lostOf(run, known) ?? -1) > Number(more[1]);
  const cause = /^cause:(\w+)$/.exec(word)?.[1];
  if (cause !== undefined) return known?.causes.some((one) => one.cause.includes(cause)) ?? false;
  return (
    run.title.toLowerCase().includes(word) || word === run.source || (word === "live" && run.live)
  );
}

/** The share of a run that is lost, null where nobody has looked or can tell yet. */
export function lostOf(run: Run, report: RunReport | Error | undefined): Measured {
  const known = report === undefined || report instanceof Error ? run : report;
  return known.verdict === "not_enough_steps" ? null : known.lost_fraction;
}

/** The verdict of a run in a list: "slowdown · live", "healthy · from scalars". */
export function verdictText(run: Run, report: RunReport | Error | undefined): string {
  const isDrawn = run.source === "scalars";
  const live = `${isDrawn ? " · from scalars" : ""}${run.live ? " · live" : ""}`;
  if (report instanceof Error) return `unreadable${live}`;
  const verdict = report?.verdict ?? run.verdict;
  if (verdict === null) return `–${live}`;
  const sign = { slowdown: "●", slow_start: "◐", healthy: "○", not_enough_steps: "–" };
  const words = verdict === "not_enough_steps" ? "too few steps" : verdict.replaceAll("_", " ");
  const partly = report?.judged === "partly" && !isDrawn ? ", partly judged" : "";
  return `${sign[verdict]} ${words}${partly}${live}`;
}
