/** Finding a run among hundreds. */

import type { Run } from "../api/types";

/** Runs whose names hold every word of the filter; the word `live` asks for running ones. */
export function filtered(runs: readonly Run[], filter: string): Run[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const newestFirst = [...runs].sort((a, b) => (b.reported ?? 0) - (a.reported ?? 0));
  return newestFirst.filter((run) =>
    words.every((word) => run.run.toLowerCase().includes(word) || (word === "live" && run.live)),
  );
}
