/** What a reader calls the collectors of the writer, and which of them see a cause. */

import { sentence } from "./causes";
import { COLLECTORS, SEEN_BY } from "./tables";

/** What a reader calls it; a collector of a newer writer is shown by its id. */
export const collectorTitle = (signal: string): string =>
  COLLECTORS[signal] ?? sentence(signal.replaceAll("_", " "));

/** The collectors that see a cause; undefined where the step times themselves show it. */
export const seenBy = (cause: string): readonly string[] | undefined => SEEN_BY[cause];
