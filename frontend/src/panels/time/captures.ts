/** What happened in a step: the profiler's captures, and a fast one against a slow one. */

import { html } from "lit-html";
import "../../charts/capture_list";
import { plural } from "../../base/format";
import type { OpenTrace } from "../../model/captures";
import { between, padded } from "../../model/timeline/window";
import type { Captures, Content } from "../contract";
import { codeBox } from "../pieces";

const HOW = `tbslow.start(logdir, profile_on_slowdown=True)  # one while steady, one when it slows down
tf.profiler.experimental.start(logdir)
tf.keras.callbacks.TensorBoard(logdir, profile_batch=(100, 109))`;

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
        body: html`<p class="empty">No profiler captures for this run. To record one:</p>${codeBox("One of these lines", HOW, "example")}`,
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
