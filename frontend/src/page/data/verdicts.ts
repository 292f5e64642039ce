/** What was found in each run: asked for while somebody looks at a list, and until all are judged. */

import type { Client } from "../../api/client";
import { Delay, type Store } from "../state/store";

const SECONDS = 1;

export class Verdicts {
  readonly #delay = new Delay();
  #since = 0;
  #server = "";
  #asking = false;

  constructor(
    private readonly store: Store,
    private readonly client: Client,
    /** A list of runs is in sight. */
    private readonly wanted: () => boolean,
  ) {}

  /** Asks for what is new; does nothing where an answer is under way. */
  async refresh(): Promise<void> {
    if (this.#asking || !this.wanted()) return;
    this.#asking = true;
    this.#delay.cancel();
    try {
      const answer = await this.client.allRuns(this.#since, this.#server);
      const { found } = this.store.state;
      const isSame = this.#server === answer.store;
      this.#since = answer.number;
      this.#server = answer.store;
      const progress = { judged: answer.judged, of: answer.of };
      if (isSame && answer.rows.length === 0) this.store.set({ progress });
      else {
        const rows = new Map(isSame ? found : []);
        for (const row of answer.rows) rows.set(row.run, row);
        this.store.set({ found: rows, progress });
      }
      if (answer.judged < answer.of) this.#delay.after(SECONDS * 1000, () => void this.refresh());
    } catch {
      // Who follows the runs says that nobody answers, and asks again.
    } finally {
      this.#asking = false;
    }
  }
}
