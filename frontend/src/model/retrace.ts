/** Why a function was traced again, in one line. */

import type { RetraceGroup } from "../api/types";
import { sentence } from "./causes";

/** "argument `temperature`: Python float 0.1 → 0.2, … 3.77 → 3.78". */
export function reasonOf(group: RetraceGroup): string {
  const pairs = group.examples.flatMap((example) =>
    example.changes
      .filter((change) => change.argument === group.argument)
      .slice(0, 1)
      .map((change) => `${change.before} → ${change.after}`),
  );
  const argument = group.argument === "" ? "" : `argument \`${group.argument}\``;
  const [first] = pairs;
  const last = pairs.at(-1);
  if (first === undefined || last === undefined) {
    const why = sentence(group.what || group.cause || "not known").toLowerCase();
    return argument === "" ? why : `${argument}: ${why}`;
  }
  const shown = first === last ? first : `${first}, … ${last}`;
  return argument === "" ? shown : `${argument}: ${shown}`;
}
