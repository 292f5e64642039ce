/** Everything the page shows follows from this. */

import type { JudgedRun } from "../../api/wire/all_runs";
import type { Changed } from "../../api/wire/changed";
import type { Run, RunReport, Runs, Worker } from "../../api/wire/report";
import type { Timeline } from "../../api/wire/timeline";
import type { OpenTrace } from "../../model/captures";
import { NEWEST, type Order } from "../../model/runs/columns";
import type { Axis } from "../../model/timeline/scene";
import type { Window } from "../../model/timeline/window";
import type { SortColumn } from "../../panels/contract";

export interface PanelState {
  readonly data?: unknown;
  readonly error?: Error;
}

export interface Gone {
  /** Unix seconds: since when nobody answers, what state is shown, when the next try comes. */
  readonly since: number;
  readonly state: number | undefined;
  readonly next: number;
}

export interface State {
  readonly runs: Runs | undefined;
  readonly runsError: Error | undefined;
  readonly run: string | undefined;
  readonly panels: ReadonlyMap<string, PanelState>;
  readonly report: RunReport | undefined;
  /** Of the last report that came, so that they can be chosen from while the next one is read. */
  readonly workers: readonly Worker[];
  readonly whole: Timeline | undefined;
  readonly detail: Timeline | undefined;
  /** Why the view is no finer than the whole run. */
  readonly detailError: Error | undefined;
  /** Undefined: the whole run, also while it grows. */
  readonly view: Window | undefined;
  readonly selection: Window | undefined;
  /** The step that was asked about: the selection begins with it. */
  readonly since: number | undefined;
  readonly changes: Changed | undefined;
  readonly changesError: Error | undefined;
  readonly axis: Axis;
  readonly lostOnly: boolean;
  /** The only layers of the stack that are shown; all of them where it is empty. */
  readonly layers: readonly string[];
  readonly asTable: boolean;
  readonly sortedBy: SortColumn;
  readonly allLanes: boolean;
  /** Cards that the reader opened or closed by hand. */
  readonly touched: ReadonlyMap<string, boolean>;
  readonly hot: string | undefined;
  readonly compared: readonly string[];
  readonly repeats: boolean;
  /** The capture beside the timeline. */
  readonly trace: OpenTrace | undefined;
  /** What was found in each run so far, and of how many. */
  readonly found: ReadonlyMap<string, JudgedRun>;
  readonly progress: { readonly judged: number; readonly of: number } | undefined;
  readonly list: List;
  /** The panel that the reader looks at. */
  readonly here: string | undefined;
  readonly picker: boolean;
  readonly filter: string;
  readonly gone: Gone | undefined;
  /** Unix seconds since when something is loading, once that is long enough to say so. */
  readonly loadingSince: number | undefined;
  /** How much of the run the server has read; null: it has read it, or has not begun. */
  readonly readFraction: number | null | undefined;
  readonly width: number;
  readonly sample: number;
}

/** How the table of all runs is shown. */
export interface List {
  readonly filter: string;
  readonly order: Order;
  /** Runs that are chosen for a comparison. */
  readonly picked: readonly string[];
  /** By experiment; undefined until the reader decides. */
  readonly grouped: boolean | undefined;
  readonly closed: readonly string[];
  /** Rows that are drawn: more come as the reader scrolls. */
  readonly rows: number;
}

export const ROWS = 100;

/** The run that the page shows, or its worker; undefined as long as the run is not listed. */
export function shownRun({ runs, run = "", report }: State): Run | undefined {
  const find = (name: string): Run | undefined => runs?.runs.find((one) => one.run === name);
  const [, of = ".", worker] = /^(?:(.*)\/)?slowdown\/worker-(\d+)$/.exec(run) ?? [];
  const chief = worker && find(of);
  return (
    find(run) ||
    (chief
      ? { ...chief, run, title: `${chief.title}, worker ${worker}`, steps: report?.steps ?? 0 }
      : undefined)
  );
}

/** What belongs to one run and is forgotten with it. */
export const FORGOTTEN = {
  panels: new Map(),
  report: undefined,
  whole: undefined,
  detail: undefined,
  detailError: undefined,
  view: undefined,
  selection: undefined,
  since: undefined,
  layers: [],
  changes: undefined,
  changesError: undefined,
  touched: new Map(),
  hot: undefined,
  compared: [],
  repeats: false,
  trace: undefined,
  asTable: false,
} satisfies Partial<State>;

export const INITIAL: State = {
  runs: undefined,
  runsError: undefined,
  run: undefined,
  ...FORGOTTEN,
  workers: [],
  axis: "steps",
  lostOnly: false,
  sortedBy: "seconds",
  allLanes: false,
  found: new Map(),
  progress: undefined,
  list: { filter: "", order: NEWEST, picked: [], grouped: undefined, closed: [], rows: ROWS },
  here: undefined,
  picker: false,
  filter: "",
  gone: undefined,
  loadingSince: undefined,
  readFraction: undefined,
  width: 0,
  sample: 0,
};

/** Nothing of what was asked for is there yet, and that is worth saying. */
export const isLoading = ({ loadingSince, panels }: State): boolean =>
  loadingSince !== undefined && !panels.has("verdict");
