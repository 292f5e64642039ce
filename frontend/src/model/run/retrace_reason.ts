/** Why a function was traced again, in one line. */

import type { RetraceGroup } from "../../api/wire/retraces";
import { sentence } from "../../catalog/causes";

/** What one line says of why a function of tf.data or Keras was traced again. */
const LIBRARY = "its dataset, iterator, or model was re-created";

/** "argument `temperature`: Python float 0.1 → 0.2, … 3.77 → 3.78". */
export function reasonOf(group: RetraceGroup): string {
  if (group.cause === "library") return LIBRARY;
  const pairs = group.examples.flatMap((example) =>
    example.changes
      .filter((change) => change.argument === group.argument)
      .slice(0, 1)
      .map((change) => step(change.before, change.after)),
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

/** From one value to the next, the words they share said once. */
export function step(before: string, after: string): string {
  const type = /^(Python \w+ )/.exec(before)?.[1] ?? "";
  const next = type !== "" && after.startsWith(type) ? after.slice(type.length) : after;
  return `${shortened(before)} → ${shortened(next)}`;
}

/** Fractions to six digits: more tell nobody anything. */
export const shortened = (text: string): string =>
  text.replace(/\d+\.\d{6,}(?:e[+-]?\d+)?/g, (number) =>
    String(Number(Number(number).toPrecision(6))),
  );

/** What a row is called where open cards are kept; a comma parts them there. */
export const key = (group: RetraceGroup): string =>
  ["trace", group.function, group.location, group.cause, group.argument, group.what]
    .join("|")
    .replaceAll(",", ";");
