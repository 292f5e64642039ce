/** What a healthy verdict rests on: each cause, and whether its signals were measured. */

import type { RunReport, SignalState } from "../api/types";
import { CAUSES, sentence, UNEXPLAINED } from "./causes";

export interface Check {
  readonly id: string;
  /** At least one of the signals behind it was measured. */
  readonly seen: boolean;
  readonly text: string;
}

/**
 * Collectors (by the start of their name) that see a cause; any one of them is enough. A cause
 * without an entry is seen in the step times themselves.
 */
const SEEN_BY: Readonly<Record<string, readonly string[]>> = {
  retracing: ["retraces"],
  xla_compilation: ["xla_compilation", "retraces"],
  graph_growth: ["graph"],
  shape_churn: ["shapes", "retraces"],
  input_pipeline: ["input_wait"],
  host_device_transfer: ["captures"],
  communication: ["communication"],
  garbage_collection: ["garbage_collection"],
  tensor_retention: ["tapes", "allocator", "process_memory"],
  host_memory: ["host_memory", "process_memory"],
  gpu_memory: ["nvml", "allocator"],
  checkpointing: ["checkpoints", "step_time"],
  callbacks: ["callbacks", "summaries", "step_time"],
  disk: ["disk_io"],
  cpu_contention: ["cpu_contention"],
  python_overhead: ["python_stacks", "step_time"],
  thermal: ["nvml"],
  profiling: ["captures"],
  optimizer_state: ["optimizers"],
};

/** Causes that need step times alone are always seen. */
export function checks(report: RunReport): Check[] {
  return CAUSES.filter((cause) => cause.id !== UNEXPLAINED).map(({ id }) => {
    const names = SEEN_BY[id];
    if (names === undefined) return { id, seen: true, text: "level" };
    const states = report.signals.filter((state) =>
      names.some((name) => state.signal.startsWith(name)),
    );
    const seen = states.some(isSeen);
    return { id, seen, text: seen ? "measured" : reasonOf(states) };
  });
}

const isSeen = (state: SignalState): boolean =>
  state.status === "measured" || state.status === "partly";

function reasonOf(states: readonly SignalState[]): string {
  const [first] = states;
  return first === undefined || first.reason === "" ? "not measured" : sentence(first.reason);
}

export function tally(list: readonly Check[]): { measured: number; blind: number } {
  const measured = list.filter((check) => check.seen).length;
  return { measured, blind: list.length - measured };
}
