/**
 * The server's answers out of the page itself: a report in one file has no server.
 *
 * `tbslow report --format html` puts them into an element. Of each run's timeline it holds
 * tiles: the whole run at several resolutions, and the beginning at a finer one.
 */

import type { Fetch } from "./client";
import type { RunComparison } from "./wire/comparison";
import type { Report, Runs } from "./wire/report";
import type { Retraces } from "./wire/retraces";
import type { SignalSeries, Timeline } from "./wire/timeline";

export const ELEMENT = "tbslow-data";

export interface EmbeddedRun {
  readonly report: Report;
  readonly retraces: Retraces;
  /** The coarsest first; the last that covers the whole run is the finest there is of it. */
  readonly tiles: readonly Omit<Timeline, "signals">[];
  /** Once for all tiles. */
  readonly signals: readonly SignalSeries[];
}

export interface Embedded {
  readonly runs: Runs;
  /** Base -> other run -> what differs; of few runs only. */
  readonly comparisons?: Readonly<Record<string, Readonly<Record<string, RunComparison>>>>;
  readonly of: Readonly<Record<string, EmbeddedRun>>;
}

/** The page is a report in one file, which somebody may have sent. */
export const isShared = (page: Document = document): boolean =>
  page.getElementById(ELEMENT) !== null;

/** Answers requests from the element of the page, undefined where it has none. */
export function embeddedFetch(page: Document = document): Fetch | undefined {
  const text = page.getElementById(ELEMENT)?.textContent;
  if (text === undefined || text === null) return undefined;
  const data = JSON.parse(text) as Embedded;
  return async (address) => {
    const url = new URL(address, "file:///");
    const answer = answerTo(data, url.pathname.slice(1), url.searchParams);
    return answer === undefined
      ? new Response(JSON.stringify({ error: `This report doesn't contain that${hint(url)}.` }), {
          status: 404,
        })
      : new Response(JSON.stringify(answer));
  };
}

const hint = (url: URL): string => (url.pathname === "/compare" ? "; use `tbslow compare`" : "");

function answerTo(data: Embedded, route: string, query: URLSearchParams): unknown {
  if (route === "runs") return data.runs;
  if (route === "compare") {
    const [base, other] = ["base", "runs"].map((side) => onlyName(query.get(side)));
    return own(own(data.comparisons, base), other);
  }
  const name = query.get("run") ?? "";
  const run = own(data.of, name);
  if (run === undefined) return undefined;
  if (route === "report") return run.report;
  if (route === "retraces") return run.retraces;
  if (route !== "timeline") return undefined;
  const end = (run.tiles[0]?.rows ?? 1) - 1;
  const first = Number(query.get("first") ?? 0);
  const last = Math.min(end, Number(query.get("last") ?? end));
  return timelineOf(run, first, last, Number(query.get("buckets") ?? 800));
}

/** A name may be that of something every object has. */
const own = <Value>(
  of: Readonly<Record<string, Value>> | undefined,
  name: string | undefined,
): Value | undefined =>
  of !== undefined && name !== undefined && Object.hasOwn(of, name) ? of[name] : undefined;

/** The name in a list of one. */
function onlyName(list: string | null): string | undefined {
  const names = JSON.parse(list ?? "[]") as string[];
  return names.length === 1 ? names[0] : undefined;
}

/** Rows `first` to `last` as fine as asked for, or as fine as there is. */
export function timelineOf(
  run: EmbeddedRun,
  first: number,
  last: number,
  buckets: number,
): Timeline | undefined {
  const wanted = Math.max(1, Math.ceil((last - first + 1) / Math.max(1, buckets)));
  const covering = run.tiles.filter((tile) => tile.first <= first && tile.last >= last);
  const byWidth = covering.sort((a, b) => b.bucket_rows - a.bucket_rows);
  const tile = byWidth.find((one) => one.bucket_rows <= wanted) ?? byWidth.at(-1);
  return tile && cut(tile, run.signals, first, last);
}

function cut(
  tile: Omit<Timeline, "signals">,
  signals: readonly SignalSeries[],
  first: number,
  last: number,
): Timeline {
  const width = tile.bucket_rows;
  const from = Math.floor((first - tile.first) / width);
  const to = Math.floor((last - tile.first) / width) + 1;
  const start = tile.first + from * width;
  const end = Math.min(tile.last, tile.first + to * width - 1);
  const part = <Item>(column: readonly Item[]): readonly Item[] => column.slice(from, to);
  const inside = <Item extends { readonly row: number }>(items: readonly Item[]): Item[] =>
    items.filter((item) => item.row >= start && item.row <= end);
  const { mean, median, min, max } = tile.step_seconds;
  return {
    ...tile,
    first: start,
    last: end,
    row: part(tile.row),
    step: part(tile.step),
    time: part(tile.time),
    count: part(tile.count),
    step_seconds: { mean: part(mean), median: part(median), min: part(min), max: part(max) },
    healthy: part(tile.healthy),
    lost: Object.fromEntries(Object.entries(tile.lost).map(([id, lost]) => [id, part(lost)])),
    accounts: tile.accounts.map((one) => ({ ...one, seconds: part(one.seconds) })),
    epochs: inside(tile.epochs),
    annotations: inside(tile.annotations),
    change_points: inside(tile.change_points),
    marks: {
      retraces: inside(tile.marks.retraces ?? []),
      gc: inside(tile.marks.gc ?? []),
      checkpoints: inside(tile.marks.checkpoints ?? []),
      captures: inside(tile.marks.captures ?? []),
    },
    signals: signals.map((series) => cutSignal(series, start, end)),
  };
}

/** With one sample beyond each edge, so that a line reaches the edges of the view. */
function cutSignal(series: SignalSeries, first: number, last: number): SignalSeries {
  const inside = series.row.findIndex((row) => row >= first);
  const from = Math.max(0, (inside < 0 ? series.row.length : inside) - 1);
  const beyond = series.row.findIndex((row) => row > last);
  const to = beyond < 0 ? series.row.length : beyond + 1;
  return { ...series, row: series.row.slice(from, to), value: series.value.slice(from, to) };
}
