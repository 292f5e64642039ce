/** Fetches the second module of the page, once the first screen has what it shows. */

import type { AnyPanel, Content } from "./contract";

type Below = typeof import("./below");

let asked: Promise<Below> | undefined;
let there: Below | undefined;

/** The second module; asked for again after a failure. */
export function below(): Promise<Below> {
  asked ??= import("./below").then(
    (module) => {
      there = module;
      return module;
    },
    () => {
      asked = undefined;
      throw new Error("A part of this page could not be loaded. Reload the page.");
    },
  );
  return asked;
}

/** The second module where it is there: any panel below the timeline has waited for it. */
export const ifThere = (): Below | undefined => there;

/** A panel whose content is in the second module. */
export function later(panel: Omit<AnyPanel, keyof Content<unknown>>): AnyPanel {
  const content = (module: Below): Content<unknown> =>
    module.CONTENTS[panel.id] as Content<unknown>;
  return {
    ...panel,
    load: async (source) => {
      // The verdict first: nobody sees this before it.
      await source.report().catch(() => undefined);
      return content(await below()).load(source);
    },
    view: (data, page) => content(there as Below).view(data, page),
  };
}
