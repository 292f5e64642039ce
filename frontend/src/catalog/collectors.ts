/**
 * What each collector of the writer sees, in one table: its name for a reader, and the causes
 * that it makes visible. A Python test holds the keys to the writer's registry.
 */

import { sentence } from "./causes";

interface Collector {
  readonly title: string;
  /** Any one of the collectors that see a cause is enough to have looked for it. */
  readonly sees: readonly string[];
}

const COLLECTORS: Readonly<Record<string, Collector>> = {
  step_time: {
    title: "Step time",
    sees: ["checkpointing", "callbacks", "python_overhead"],
  },
  retraces: {
    title: "Retraces, with reason and seconds",
    sees: ["retracing", "xla_compilation", "shape_churn"],
  },
  xla_compilation: { title: "XLA compilations", sees: ["xla_compilation"] },
  garbage_collection: { title: "Garbage collection pauses", sees: ["garbage_collection"] },
  input_wait: { title: "Waiting for input", sees: ["input_pipeline"] },
  input_stages: { title: "Stages of the input pipeline", sees: [] },
  batch_shapes: { title: "Shapes of batches", sees: ["shape_churn"] },
  checkpoints: { title: "Checkpoints", sees: ["checkpointing"] },
  summaries: { title: "Summary writing", sees: ["callbacks"] },
  callbacks: { title: "Keras callbacks", sees: ["callbacks"] },
  optimizers: { title: "Optimizers and their variables", sees: ["optimizer_state"] },
  predict_calls: { title: "Calls of Keras's predict", sees: [] },
  evaluations: { title: "Calls of Keras's evaluate", sees: [] },
  captures: { title: "Profiler captures", sees: ["profiling", "host_device_transfer"] },
  process_memory: {
    title: "Process: memory, page faults, context switches",
    sees: ["tensor_retention", "host_memory"],
  },
  host_memory: { title: "Machine: memory and swap", sees: ["host_memory"] },
  allocator: { title: "Allocator, in use and peak", sees: ["tensor_retention", "gpu_memory"] },
  nvml: {
    title: "GPU: memory, load, clock, power, temperature",
    sees: ["gpu_memory", "thermal"],
  },
  amd_gpu: {
    title: "AMD GPU: memory, load, clock, power, temperature",
    sees: ["gpu_memory", "thermal"],
  },
  graph: { title: "Operations and functions in TensorFlow's graphs", sees: ["graph_growth"] },
  tapes: { title: "Gradient tapes and live tensors", sees: ["tensor_retention"] },
  live_tensors: { title: "Live tensors", sees: ["tensor_retention"] },
  python_stacks: { title: "Where Python spends its time", sees: ["python_overhead"] },
  cpu_contention: { title: "Waiting for a core, CPU quota", sees: ["cpu_contention"] },
  pressure: { title: "Pressure on CPU, memory and disks (PSI)", sees: ["cpu_contention", "disk"] },
  disk_io: { title: "Bytes read and written", sees: ["disk"] },
  output_files: { title: "Files that the run leaves on disk", sees: ["disk"] },
  communication: { title: "Waiting for other workers", sees: ["communication"] },
};

/** What a reader calls it; a collector of a newer writer is shown by its id. */
export const collectorTitle = (signal: string): string =>
  COLLECTORS[signal]?.title ?? sentence(signal.replaceAll("_", " "));

/** The collectors that see a cause; undefined where the step times themselves show it. */
export function seenBy(cause: string): readonly string[] | undefined {
  const names = Object.keys(COLLECTORS).filter((name) => COLLECTORS[name]?.sees.includes(cause));
  return names.length === 0 ? undefined : names;
}
