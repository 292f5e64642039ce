/** What happened in a step: the profiler's captures, and a fast one against a slow one. */

import { html } from "lit-html";
import "../../charts/capture_list";
import { plural } from "../../base/format";
import type { OpenTrace } from "../../model/captures";
import { between, padded } from "../../model/timeline/window";
import type { Captures, Content } from "../contract";
import { prose } from "../pieces";

export const traces: Content<Captures> = {
  load: (source) => source.captures(),
  view: ({ list, source }, page) => {
    const { captures, status } = list;
    if (status.status !== "measured") {
      return {
        body: html`<p class="empty">Captures are not shown: ${status.reason}</p>`,
      };
    }
    if (captures.length === 0) {
      return {
        body: html`<p class="empty">${prose(
          "No profiler capture lies in this run's directory. `tbslow.start(..., profile_on_slowdown=True)` takes one when the run is steady and one when it slows down; `tf.profiler.experimental.start(logdir)` and Keras's `TensorBoard(profile_batch=...)` take one when they are told to.",
        )}</p>`,
      };
    }
    const rows = page.whole?.timeline.rows;
    const show = (first: number, last: number): void =>
      page.actions.showRows(padded(between(first - 10, last + 10), 0, rows ?? last + 11));
    const open = (trace: OpenTrace): void => page.actions.openTrace(trace);
    return {
      note: `${plural(captures.length, "profiler capture")} in this logdir, placed at their steps`,
      body: html`<sd-captures .source=${source} .captures=${captures} .opened=${page.trace?.id} .show=${show} .open=${open}></sd-captures>`,
    };
  },
};
