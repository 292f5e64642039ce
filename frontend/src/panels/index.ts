/** The page from top to bottom: reading order is screen order is tab order. */

import { causes } from "./causes";
import { changed } from "./changed";
import { comparison } from "./compare";
import { memory } from "./memory";
import type { AnyPanel } from "./panel";
import { retraces } from "./retraces";
import { signals } from "./signals";
import { timeline } from "./timeline";
import { traces } from "./traces";
import { verdict } from "./verdict";
import { warmup } from "./warmup";
import { workers } from "./workers";

export const PANELS: readonly AnyPanel[] = [
  verdict,
  causes,
  timeline,
  changed,
  workers,
  retraces,
  warmup,
  memory,
  traces,
  comparison,
  signals,
];
