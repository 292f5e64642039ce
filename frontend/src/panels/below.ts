/**
 * What no first screen shows, in a module of its own (`static/below.js`): the panels below the
 * timeline, traces, tables, and files to save.
 */

import "../charts/trace_view";
import type { Content } from "./contract";
import { python } from "./run/python";
import { signals } from "./run/signals";
import { warmup } from "./run/startup";
import { workers } from "./run/workers";
import { comparison } from "./runs/comparison";
import { traces } from "./time/captures";
import { memory } from "./time/memory";
import { retraces } from "./time/retraces";

export { drawing, picture } from "../charts/exports";
export { timelineTable } from "./time/timeline_table";

/** By the panel's id. */
export const CONTENTS = {
  python,
  workers,
  retraces,
  warmup,
  memory,
  traces,
  compare: comparison,
  signals,
} as Readonly<Record<string, Content<unknown>>>;
