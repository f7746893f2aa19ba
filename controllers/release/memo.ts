/** What the controller remembers of a Release between two passes; all of it may be lost at any time. @module */

/** How an object stands in the apply that is under way. */
export type Result =
  | { state: "accepted"; change: "created" | "changed" | "unchanged" | "adopted" }
  | { state: "waiting"; why: string }
  | { state: "failed"; why: string }
  | { state: "conflict"; why: string };

/** Memory of one Release. */
export class Memo {
  /** Names the apply under way: a new render, generation or sync request begins a new one. */
  applyId = "";
  /** Results of the apply under way, by entry id. */
  results = new Map<string, Result>();
  /** Passes of the apply under way in which nothing came forward. */
  attempts = 0;
  /** Before this time, ms, what failed is not sent again. */
  nextTry = 0;
  /** The inputs that were rendered, applied and settled: while they are the same there is nothing to render. */
  settledInputs = "";
  /** The sync request that was carried out last; undefined = this process has not looked yet. */
  syncSeen: string | undefined;
  /** When all objects were applied last, ms. */
  appliedAt: number | undefined;
  /** Entries of objects that were degraded before this rollout and not changed by it. */
  excused = new Set<string>();
  /** uids of objects that were told to go, by entry id (C12). */
  deleting = new Map<string, string>();
  /** Looks at objects that go, in a row. */
  deletionLooks = 0;
  /** Drift that was corrected: what it was and when, by entry id. */
  corrected = new Map<string, { drift: string; at: number }>();

  constructor(readonly uid: string) {}

  /** Begins a new apply. */
  begin(applyId: string): void {
    this.applyId = applyId;
    this.results.clear();
    this.attempts = 0;
    this.nextTry = 0;
    this.settledInputs = "";
    this.excused.clear();
  }
}

/** The memories by key of the Release. */
export class Memos {
  readonly #byKey = new Map<string, Memo>();

  /** The memory of that Release; a new one when the name is another Release's now. */
  get(key: string, uid: string): Memo {
    let memo = this.#byKey.get(key);
    if (!memo || memo.uid !== uid) this.#byKey.set(key, memo = new Memo(uid));
    return memo;
  }

  /** Forgets a Release. */
  forget(key: string): void {
    this.#byKey.delete(key);
  }

  /** Number of Releases remembered. */
  get size(): number {
    return this.#byKey.size;
  }
}
