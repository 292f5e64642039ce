/** What each collector of the writer sees: its name for a reader, and the causes it makes visible. */

import { sentence } from "./causes";
import { COLLECTORS } from "./tables";

/** What a reader calls it; a collector of a newer writer is shown by its id. */
export const collectorTitle = (signal: string): string =>
  COLLECTORS[signal]?.title ?? sentence(signal.replaceAll("_", " "));

/** The collectors that see a cause; undefined where the step times themselves show it. */
export function seenBy(cause: string): readonly string[] | undefined {
  const names = Object.keys(COLLECTORS).filter((name) => COLLECTORS[name]?.sees.includes(cause));
  return names.length === 0 ? undefined : names;
}
