/** The fixed vocabulary of causes: how each is called, coloured, patterned and abbreviated. */

export type Family =
  | "warmup"
  | "compile"
  | "data"
  | "memory"
  | "saving"
  | "machine"
  | "model"
  | "neutral";
export type Texture = "solid" | "slash" | "back" | "dots";

export interface CauseKind {
  readonly id: string;
  /** Two letters that stand for the cause wherever there is no room for its name. */
  readonly code: string;
  readonly name: string;
  /** Hue: causes of one family share it. */
  readonly family: Family;
  /** Tells the members of a family apart without colour. */
  readonly texture: Texture;
}

const kind = (
  id: string,
  code: string,
  name: string,
  family: Family,
  texture: Texture,
): CauseKind => ({ id, code, name, family, texture });

export const UNEXPLAINED = "unexplained";
/** Of a live run: the part of what is unexplained whose cause waits to be confirmed. */
export const CONFIRMING = "confirming";

/** In the order in which a checklist shows them. */
export const CAUSES: readonly CauseKind[] = [
  kind("warm_up", "Wu", "Warm-up", "warmup", "solid"),
  kind("retracing", "Rt", "Retracing", "compile", "solid"),
  kind("xla_compilation", "Xc", "XLA compilation", "compile", "slash"),
  kind("graph_growth", "Gg", "Graph growth", "compile", "dots"),
  kind("shape_churn", "Sc", "Shape churn", "compile", "back"),
  kind("input_pipeline", "In", "Input pipeline", "data", "solid"),
  kind("host_device_transfer", "Hd", "Host–device transfer", "data", "slash"),
  kind("communication", "Cm", "Communication", "data", "dots"),
  kind("garbage_collection", "Gc", "Garbage collection", "memory", "solid"),
  kind("tensor_retention", "Tr", "Kept tensors", "memory", "slash"),
  kind("host_memory", "Hm", "Host memory", "memory", "dots"),
  kind("gpu_memory", "Gm", "GPU memory", "memory", "back"),
  kind("checkpointing", "Ck", "Checkpointing", "saving", "solid"),
  kind("disk", "Dk", "Disk", "saving", "slash"),
  kind("callbacks", "Cb", "Callbacks", "saving", "dots"),
  kind("cpu_contention", "Cc", "CPU contention", "machine", "solid"),
  kind("python_overhead", "Py", "Python overhead", "machine", "slash"),
  kind("thermal", "Th", "Thermal throttling", "machine", "dots"),
  kind("profiling", "Pf", "Profiling", "machine", "back"),
  kind("backward_pass", "Bp", "Backward pass", "model", "solid"),
  kind("optimizer_state", "Os", "Optimizer state", "model", "slash"),
  kind("workload", "Wl", "Workload", "neutral", "dots"),
  kind(UNEXPLAINED, "Un", "Unexplained", "neutral", "back"),
];

/** The space does not break: a bar without room for the name shows the code, not "Being". */
const BY_ID: ReadonlyMap<string, CauseKind> = new Map(
  [...CAUSES, kind(CONFIRMING, "Bc", "Being\u00a0confirmed", "neutral", "slash")].map((cause) => [
    cause.id,
    cause,
  ]),
);

/** What is known of a cause id; an id of a newer writer is shown by its own name. */
export function causeKind(id: string): CauseKind {
  return BY_ID.get(id) ?? kind(id, "??", sentence(id), "neutral", "slash");
}

/** An id as words: `rss_bytes` becomes "Rss bytes". */
export function sentence(id: string): string {
  const words = id.replaceAll("_", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

export const HEALTHY = "healthy";
