/** The state as an address, and the address as a state. */

import { type Address, formatAddress, type Shown } from "../../model/address";
import { NEWEST } from "../../model/runs/columns";
import { inRows } from "../../model/timeline/window";
import { type List, ROWS, type State } from "./state";

/**
 * What the address keeps of a state; a card that was closed has a minus before its name. Rows are
 * those of one step each there, as those of a run that grows come to stand for several.
 */
export function addressOfState(state: State): string {
  const { run, view, selection, since, layers, touched, compared, trace } = state;
  const stepsPerRow = state.whole?.steps_per_row ?? 1;
  const open = [...touched].map(([cause, isOpen]) => (isOpen ? cause : `-${cause}`));
  return formatAddress({
    ...(run === undefined ? {} : { run }),
    ...(view === undefined ? {} : { view: inRows(view, stepsPerRow) }),
    ...(selection === undefined ? {} : { selection: inRows(selection, stepsPerRow) }),
    ...(since === undefined ? {} : { since }),
    ...(layers.length === 0 ? {} : { layers }),
    ...(open.length === 0 ? {} : { open }),
    ...(compared.length === 0 ? {} : { compare: compared }),
    ...(trace === undefined ? {} : { trace }),
    ...(shown(state).length === 0 ? {} : { show: shown(state) }),
    ...(run === undefined ? addressOfList(state.list) : {}),
  });
}

const shown = ({ axis, lostOnly, allLanes, asTable, sortedBy, repeats }: State): Shown[] => [
  ...(axis === "time" ? (["time"] as const) : []),
  ...(lostOnly ? (["lost"] as const) : []),
  ...(allLanes ? (["lanes"] as const) : []),
  ...(asTable ? (["table"] as const) : []),
  ...(sortedBy === "count" ? (["count"] as const) : []),
  ...(repeats ? (["repeats"] as const) : []),
];

/** What differs from how the table of all runs is shown at first. */
function addressOfList({ filter, order, picked, grouped, closed }: List): Address {
  const isNewest = order.by === NEWEST.by && order.descending === NEWEST.descending;
  return {
    ...(filter === "" ? {} : { filter }),
    ...(isNewest ? {} : { sort: `${order.descending ? "-" : ""}${order.by}` }),
    ...(picked.length === 0 ? {} : { picked }),
    ...(grouped === undefined ? {} : { grouped }),
    ...(closed.length === 0 ? {} : { closed }),
  };
}

function listOfAddress({ filter, sort, picked, grouped, closed }: Address): List {
  const descending = sort?.startsWith("-") ?? NEWEST.descending;
  const by = sort?.replace(/^-/, "") ?? NEWEST.by;
  return {
    filter: filter ?? "",
    order: { by, descending },
    picked: picked ?? [],
    grouped,
    closed: closed ?? [],
    rows: ROWS,
  };
}

/** What an address asks for; what it does not name is as at first. */
export function stateOfAddress(address: Address, stepsPerRow = 1): Partial<State> {
  const touched = new Map(
    (address.open ?? []).map((id): [string, boolean] =>
      id.startsWith("-") ? [id.slice(1), false] : [id, true],
    ),
  );
  const has = (one: Shown): boolean => address.show?.includes(one) ?? false;
  return {
    run: address.run,
    ...(address.run === undefined ? { list: listOfAddress(address) } : {}),
    view: address.view && inRows(address.view, 1 / stepsPerRow),
    selection: address.selection && inRows(address.selection, 1 / stepsPerRow),
    since: address.since,
    layers: address.layers ?? [],
    compared: address.compare ?? [],
    trace: address.trace,
    axis: has("time") ? "time" : "steps",
    lostOnly: has("lost"),
    allLanes: has("lanes"),
    asTable: has("table"),
    sortedBy: has("count") ? "count" : "seconds",
    repeats: has("repeats"),
    touched,
  };
}
