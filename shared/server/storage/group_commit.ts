/** Writes that wait at the same time share one transaction, so that they share the cost of making it durable. @module */
import { setImmediate } from "node:timers";

/** A write that waits. `run` is called inside the transaction and may throw to refuse this write alone. */
interface Waiting {
  run(): unknown;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** What the group needs of the store. */
export interface Transactions {
  begin(): void;
  commit(): void;
  /** Undoes everything since `begin`, in the store and in its counters. */
  rollback(): void;
  /** Called after a commit, before the promises of its writes resolve. */
  committed(): void;
}

/** A refusal by `run` that left the transaction untouched; any other error undoes the whole group. */
export class Refused extends Error {
  override readonly name = "Refused";
  constructor(readonly reason: Error) {
    super(reason.message);
  }
}

/** Collects writes and commits them together at the end of the event loop's turn. */
export class GroupCommit {
  #waiting: Waiting[] = [];
  #scheduled = false;
  #idle: (() => void)[] = [];

  /** `largest`: writes in one transaction, so that readers never wait long. */
  constructor(readonly transactions: Transactions, readonly largest = 256) {}

  /** Runs a write in the next transaction; resolves when it is durable. */
  add<T>(run: () => T): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ run, resolve: resolve as (value: unknown) => void, reject });
      this.#schedule();
    });
  }

  /** Resolves when nothing waits. */
  idle(): Promise<void> {
    if (!this.#scheduled) return Promise.resolve();
    return new Promise((resolve) => this.#idle.push(resolve));
  }

  #schedule(): void {
    if (this.#scheduled) return;
    this.#scheduled = true;
    // After the requests that are readable in this turn were read: they join the same transaction.
    setImmediate(() => {
      this.#flush(this.#waiting.splice(0, this.largest));
      this.#scheduled = false;
      if (this.#waiting.length > 0) this.#schedule();
      else for (const done of this.#idle.splice(0)) done();
    });
  }

  #flush(group: Waiting[]): void {
    const answers: (() => void)[] = [];
    try {
      this.transactions.begin();
      for (const { run, resolve, reject } of group) {
        try {
          const value = run();
          answers.push(() => resolve(value));
        } catch (error) {
          if (!(error instanceof Refused)) throw error;
          answers.push(() => reject(error.reason));
        }
      }
      this.transactions.commit();
    } catch (error) {
      this.transactions.rollback();
      for (const { reject } of group) reject(error);
      return;
    }
    this.transactions.committed();
    for (const answer of answers) answer();
  }
}
