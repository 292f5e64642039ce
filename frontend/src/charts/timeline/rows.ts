/** The rows of the timeline from top to bottom, with their places in pixels. */

import type { MarkKind } from "../../api/wire/timeline";
import { chosenLanes, type Lane } from "../../model/timeline/lane";
import { MARKS, type Scene } from "../../model/timeline/scene";
import { ranked } from "../../model/timeline/stack";

export type RowKind =
  | "epochs"
  | "notes"
  | "stack"
  | "time"
  | "marks"
  | "lane"
  | "unmeasured"
  | "axis";

export interface Row {
  readonly kind: RowKind;
  readonly key: string;
  readonly top: number;
  readonly height: number;
  readonly mark?: MarkKind;
  readonly lane?: Lane;
  readonly reason?: string;
}

const HEIGHTS: Readonly<Record<RowKind, number>> = {
  epochs: 28,
  notes: 22,
  stack: 220,
  time: 96,
  marks: 22,
  lane: 44,
  unmeasured: 28,
  axis: 44,
};

/** So many names of layers have room beside the stack; each more makes it higher. */
const NAMES = 7;
const NAME_PIXELS = 24;

export interface Layout {
  readonly rows: readonly Row[];
  readonly height: number;
}

/** Rows of the whole run: zooming never makes one come or go. */
export function layoutOf(whole: Scene, allLanes: boolean, captures: number): Layout {
  const rows: Row[] = [];
  let top = 0;
  const add = (kind: RowKind, key: string, rest: Partial<Row> = {}): void => {
    const height = rest.height ?? HEIGHTS[kind];
    rows.push({ kind, key, top, ...rest, height });
    top += height;
  };
  add("epochs", "epochs");
  if (whole.timeline.annotations.length > 0) add("notes", "notes");
  add("stack", "stack", {
    height: HEIGHTS.stack + NAME_PIXELS * Math.max(0, whole.legend.length - NAMES),
  });
  add("time", "time");
  for (const { kind } of MARKS) {
    const marks = kind === "captures" ? captures : (whole.timeline.marks[kind] ?? []).length;
    if (marks > 0) add("marks", `marks-${kind}`, { mark: kind });
  }
  for (const lane of chosenLanes(whole.lanes, allLanes, ranked(whole.timeline))) {
    add("lane", `lane-${lane.id}`, { lane });
  }
  for (const { signal, reason } of whole.timeline.unmeasured) {
    add("unmeasured", `unmeasured-${signal}`, { reason });
  }
  add("axis", "axis");
  return { rows, height: top };
}

export const rowOfKind = (layout: Layout, kind: RowKind): Row =>
  layout.rows.find((row) => row.kind === kind) as Row;
