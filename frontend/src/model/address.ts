/**
 * What the page's address keeps, in TensorBoard's own form: `#slowdown&p.slowdown.run=run1`.
 */

import type { OpenTrace } from "./captures";
import type { Window } from "./timeline/window";

export interface Address {
  readonly run?: string;
  readonly view?: Window;
  readonly selection?: Window;
  /** The step that was asked about: "slower since step 800?". */
  readonly since?: number;
  /** Of the stack: the only layers that are shown. */
  readonly layers?: readonly string[];
  /** Cause ids of the cards that differ from how the page opens them. */
  readonly open?: readonly string[];
  /** Runs put beside this one. */
  readonly compare?: readonly string[];
  /** The capture beside the timeline. */
  readonly trace?: OpenTrace;
  /** What differs from how the timeline and the retraces are shown at first. */
  readonly show?: readonly Shown[];
  /** Of the table of all runs. */
  readonly filter?: string;
  /** A column, with a minus before it where it descends. */
  readonly sort?: string;
  readonly picked?: readonly string[];
  readonly grouped?: boolean | undefined;
  /** Experiments whose runs are folded. */
  readonly closed?: readonly string[];
}

/** Ways to look at the same steps that are not the first ones. */
export const SHOWN = ["time", "lost", "lanes", "table", "count", "repeats"] as const;
export type Shown = (typeof SHOWN)[number];

const PLUGIN = "slowdown";
const PREFIX = `p.${PLUGIN}.`;

/** True where the address names this tab, or none: only then may the page write to it. */
export const isOurs = (hash: string): boolean =>
  ["", PLUGIN].includes(hash.replace(/^#/, "").split("&")[0] ?? "");

/** Reads an address; whatever cannot be understood is left out. */
export function parseAddress(hash: string): Address {
  const values = new Map<string, string[]>();
  for (const part of hash.replace(/^#/, "").split("&")) {
    const equals = part.indexOf("=");
    if (equals < 0 || !part.startsWith(PREFIX)) continue;
    const name = part.slice(PREFIX.length, equals);
    values.set(name, [...(values.get(name) ?? []), decoded(part.slice(equals + 1))]);
  }
  const run = values.get("run")?.[0];
  const view = windowOf(values.get("rows")?.[0]);
  const selection = windowOf(values.get("selection")?.[0]);
  const since = /^\d{1,15}$/.exec(values.get("since")?.[0] ?? "")?.[0];
  const layers =
    values
      .get("layers")?.[0]
      ?.split(",")
      .filter((id) => id !== "") ?? [];
  const open = values.get("open")?.[0];
  const compare = values.get("compare");
  const show = SHOWN.filter((one) => values.get("show")?.[0]?.split(",").includes(one));
  const [filter, sort] = [values.get("filter")?.[0], values.get("sort")?.[0]];
  const [picked, grouped, closed] = [
    values.get("pick"),
    values.get("group")?.[0],
    values.get("fold"),
  ];
  const trace = traceOf(values.get("trace")?.[0], values.get("host")?.[0], values.get("at")?.[0]);
  return {
    ...(run === undefined ? {} : { run }),
    ...(view === undefined ? {} : { view }),
    ...(selection === undefined ? {} : { selection }),
    ...(since === undefined ? {} : { since: Number(since) }),
    ...(layers.length === 0 ? {} : { layers }),
    ...(open === undefined ? {} : { open: open.split(",").filter((id) => id !== "") }),
    ...(compare === undefined ? {} : { compare }),
    ...(trace === undefined ? {} : { trace }),
    ...(show.length === 0 ? {} : { show }),
    ...(filter === undefined ? {} : { filter }),
    ...(sort === undefined ? {} : { sort }),
    ...(picked === undefined ? {} : { picked }),
    ...(grouped === undefined ? {} : { grouped: grouped === "yes" }),
    ...(closed === undefined ? {} : { closed }),
  };
}

/** The hash of an address. */
export function formatAddress(address: Address): string {
  const parts = [`#${PLUGIN}`];
  const put = (name: string, value: string | undefined): void => {
    if (value !== undefined) parts.push(`${PREFIX}${name}=${encodeURIComponent(value)}`);
  };
  put("run", address.run);
  put("rows", address.view && windowText(address.view));
  put("selection", address.selection && windowText(address.selection));
  put("since", address.since?.toString());
  put("layers", address.layers?.join(","));
  put("open", address.open?.join(","));
  put("show", address.show?.join(","));
  put("trace", address.trace?.id);
  put("host", address.trace?.host);
  put("at", address.trace?.at && windowText(address.trace.at));
  for (const run of address.compare ?? []) put("compare", run);
  put("filter", address.filter);
  put("sort", address.sort);
  put("group", address.grouped === undefined ? undefined : address.grouped ? "yes" : "no");
  for (const run of address.picked ?? []) put("pick", run);
  for (const name of address.closed ?? []) put("fold", name);
  return parts.join("&");
}

function traceOf(id?: string, host?: string, at?: string): OpenTrace | undefined {
  if (!id) return undefined;
  const window = windowOf(at);
  return {
    id,
    ...(host === undefined ? {} : { host }),
    ...(window === undefined ? {} : { at: window }),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll("+", " "));
  } catch {
    return text;
  }
}

/** Rows are written inclusive, as a reader counts them. */
const windowText = (window: Window): string =>
  `${Math.round(window.from)}-${Math.round(window.to) - 1}`;

function windowOf(text: string | undefined): Window | undefined {
  const match = /^(\d{1,15})-(\d{1,15})$/.exec(text ?? "");
  if (match === null) return undefined;
  const from = Number(match[1]);
  const last = Number(match[2]);
  return last >= from ? { from, to: last + 1 } : undefined;
}
