/**
 * The page from top to bottom: reading order is screen order is tab order.
 *
 * What is on no first screen is here without its content, which `below.ts` has.
 */

import type { AnyPanel } from "./contract";
import { later } from "./later";
import { causes } from "./run/causes";
import { verdict } from "./run/verdict";
import { changed } from "./time/range_comparison";
import { timeline } from "./time/timeline";

export const PANELS: readonly AnyPanel[] = [
  verdict,
  causes,
  timeline,
  changed,
  later({
    id: "python",
    title: "Python lines",
    anchor: "Python",
    shows: (report) => (report?.python?.lines.length ?? 0) > 0,
  }),
  later({
    id: "workers",
    title: "Workers",
    anchor: "Workers",
    shows: (report) => (report?.workers.length ?? 0) > 0,
  }),
  later({ id: "retraces", title: "Retraces", anchor: "Retraces", reserve: 96 }),
  later({
    id: "warmup",
    title: "Warm-up breakdown",
    half: true,
    shows: (report) => report?.causes.some(({ cause }) => cause === "warm_up") ?? true,
  }),
  later({
    id: "memory",
    title: "Memory and allocator",
    anchor: "Memory",
    reserve: 280,
    half: true,
  }),
  later({ id: "traces", title: "Traces", anchor: "Traces", reserve: 64 }),
  later({ id: "compare", title: "Compare", anchor: "Compare" }),
  later({ id: "signals", title: "Signals", anchor: "Signals" }),
];
