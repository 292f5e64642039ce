/** What the page hands to the timeline, and what the timeline asks of the page. */

import type { Retraces } from "../../api/wire/retraces";
import type { MarkKind } from "../../api/wire/timeline";
import type { CaptureSpan } from "../../model/captures";
import type { Axis, Scene } from "../../model/timeline/scene";
import type { Window } from "../../model/timeline/window";

export interface TimelineInput {
  /** The whole run: rows, scales of lanes and legend come from it. */
  readonly whole: Scene;
  /** The finest data at hand that covers the view. */
  readonly detail: Scene;
  readonly view: Window;
  readonly selection: Window | undefined;
  readonly axis: Axis;
  /** Every signal, not only those that say most. */
  readonly allLanes: boolean;
  readonly captures: readonly CaptureSpan[];
  /** What the ticks of retraces are. */
  readonly retraces?: Retraces | undefined;
}

/** Steps that were pointed at, and how many rows beside them a captured step may lie. */
export interface Point {
  readonly rows: Window;
  readonly within: number;
  /** Of ticks: what they are. */
  readonly mark?: MarkKind | undefined;
}

/** A layer in the legend that was clicked; `add` with Ctrl. */
export interface LayerChoice {
  readonly id: string;
  readonly add: boolean;
}

export interface Jump {
  readonly direction: 1 | -1;
  readonly cursor: number;
}
