/** The page from top to bottom: reading order is screen order is tab order. */

import { causes } from "./causes";
import type { AnyPanel } from "./panel";
import { retraces } from "./retraces";
import { signals } from "./signals";
import { timeline } from "./timeline";
import { verdict } from "./verdict";

export const PANELS: readonly AnyPanel[] = [verdict, causes, timeline, retraces, signals];
