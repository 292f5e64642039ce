/** What a panel of the page is: a value that says what it needs and how it looks. */

import type { TemplateResult } from "lit-html";
import type { Capture, CaptureComparison, CaptureList, CapturePart } from "../api/wire/captures";
import type { Changed } from "../api/wire/changed";
import type { RunComparison, SideBySide } from "../api/wire/comparison";
import type { Run, RunReport } from "../api/wire/report";
import type { Retraces } from "../api/wire/retraces";
import type { Timeline } from "../api/wire/timeline";
import type { OpenTrace } from "../model/captures";
import type { Axis, Scene } from "../model/timeline/scene";
import type { Window } from "../model/timeline/window";

/** The answers about one run, each fetched at most once however many panels ask. */
export interface Source {
  readonly run: string;
  report(): Promise<RunReport>;
  timeline(): Promise<Timeline>;
  comparison(base: readonly string[], runs: readonly string[]): Promise<RunComparison>;
  sideBySide(runs: readonly string[]): Promise<SideBySide>;
  retraces(): Promise<Retraces>;
  captures(): Promise<Captures>;
}

export type SortColumn = "count" | "seconds";

/** Captures, each fetched when it is opened. */
export interface CaptureSource {
  readonly run: string;
  capture(id: string, part: CapturePart): Promise<Capture>;
  compareCaptures(fast: string, slow: string): Promise<CaptureComparison>;
  /** XProf is installed, and its viewer is where it used to be. */
  hasTraceViewer(): Promise<boolean>;
}

/** Which captures there are, and where each comes from. */
export interface Captures {
  readonly list: CaptureList;
  readonly source: CaptureSource;
}

/** What the reader can do; every change goes through the page, which keeps the address. */
export interface Actions {
  view(window: Window): void;
  select(window: Window | undefined): void;
  /** Selects everything since a step, and asks what changed there. */
  since(step: number): void;
  /** Shows one layer of the stack alone, or all again; `add` keeps the others that are shown. */
  layer(id: string, add: boolean): void;
  /** Selects the change point after or before the selection (or the cursor). */
  jump(direction: 1 | -1, cursor?: number): void;
  axis(axis: Axis): void;
  lostOnly(only: boolean): void;
  /** Opens or closes the card of a cause. */
  card(cause: string, open: boolean): void;
  allCards(causes: readonly string[], open: boolean): void;
  /** Opens a card and brings it into sight. */
  showCard(cause: string): void;
  /** Zooms the timeline and brings it into sight. */
  showRows(window: Window): void;
  /** Puts a capture beside the timeline, and brings both into sight. */
  openTrace(trace: OpenTrace | undefined): void;
  /** Selects rows and brings "What changed here?" into sight. */
  explain(window: Window): void;
  /** Orders the retraces table. */
  sort(column: SortColumn): void;
  hot(cause: string | undefined): void;
  table(shown: boolean): void;
  lanes(all: boolean): void;
  compare(runs: readonly string[]): void;
  /** Takes compared runs as repeats of one program, or each for itself. */
  repeats(are: boolean): void;
  choose(run: string): void;
  goTo(panel: string): void;
}

/** What a panel sees of the page. */
export interface Page {
  readonly run: Run;
  readonly runs: readonly Run[];
  readonly report: RunReport | undefined;
  /** The whole run, and the finest data that covers the view, once they are there. */
  readonly whole: Scene | undefined;
  readonly detail: Scene | undefined;
  /** Why there is no finer data, where it could not be read. */
  readonly detailError: Error | undefined;
  readonly view: Window;
  readonly selection: Window | undefined;
  /** The selection against the stretch before it, once the answer is there. */
  /** The step that was asked about. */
  readonly since: number | undefined;
  readonly changes: Changed | undefined;
  readonly changesError: Error | undefined;
  readonly axis: Axis;
  readonly lostOnly: boolean;
  readonly asTable: boolean;
  readonly sortedBy: SortColumn;
  readonly allLanes: boolean;
  readonly open: (cause: string, atFirst: boolean) => boolean;
  /** The cause whose segment and term light up. */
  readonly hot: string | undefined;
  /** Of the page's content, CSS pixels. */
  readonly width: number;
  readonly compared: readonly string[];
  /** Compared runs are repeats of one program. */
  readonly repeats: boolean;
  /** A report in one file: no server, and not necessarily where it was made. */
  readonly shared: boolean;
  readonly trace: OpenTrace | undefined;
  /** Of this run, once they are listed. */
  readonly captures: Captures | undefined;
  readonly retraces: Retraces | undefined;
  /** What the program logged about the run, once the runs were listed. */
  readonly hyperparameters: Readonly<Record<string, unknown>>;
  readonly now: number;
  readonly actions: Actions;
}

/** How a panel looks at the moment. */
export interface Shown {
  /** One line beside the title. */
  readonly note?: TemplateResult | string;
  readonly tools?: TemplateResult;
  readonly body: TemplateResult;
}

/** What a panel asks for, and how it shows the answer. */
export interface Content<Data> {
  readonly load: (source: Source) => Promise<Data>;
  readonly view: (data: Data, page: Page) => Shown;
}

export interface Panel<Data> extends Content<Data> {
  readonly id: string;
  /** Empty for a panel without a header (the verdict has its own). */
  readonly title: string;
  /** The name in the page's navigation; without one the panel is not in it. */
  readonly anchor?: string;
  /** Stands beside its neighbour where the page is wide enough. */
  readonly half?: boolean;
  /** Height in pixels to keep free until its answer is there, so that nothing jumps. */
  readonly reserve?: number;
  /** Whether the run has anything for it; without, it is always there. */
  readonly shows?: (report: RunReport | undefined) => boolean;
}

export type AnyPanel = Panel<unknown>;

/** Forgets the type of a panel's data, which only the panel itself needs. */
export const sealed = <Data>(panel: Panel<Data>): AnyPanel => panel as AnyPanel;
