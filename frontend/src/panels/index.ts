/** The page from top to bottom: reading order is screen order is tab order. */

import type { AnyPanel } from "./contract";
import { causes } from "./run/causes";
import { signals } from "./run/signals";
import { warmup } from "./run/startup";
import { verdict } from "./run/verdict";
import { workers } from "./run/workers";
import { comparison } from "./runs/comparison";
import { traces } from "./time/captures";
import { memory } from "./time/memory";
import { changed } from "./time/range_comparison";
import { retraces } from "./time/retraces";
import { timeline } from "./time/timeline";

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
