/** A bounded queue of lines between a producer that cannot wait and one reader. @module */

/** Ends with {@link Overflow} when the reader is too slow. */
export class LineQueue implements AsyncIterable<string> {
  #lines: string[] = [];
  #size = 0;
  #ended = false;
  #wake: (() => void) | undefined;
  #onClose: (() => void)[] = [];
  #closed = false;

  /**
   * @param maxSize characters that may wait
   * @param overflowLine what the reader gets last when more would wait
   */
  constructor(private readonly maxSize: number, private readonly overflowLine: () => string) {}

  /** Number of characters that wait. */
  get size(): number {
    return this.#size;
  }

  /** Adds a line. After the end it is dropped. */
  push(line: string): void {
    if (this.#ended) return;
    if (this.#size + line.length > this.maxSize && this.#lines.length > 0) {
      // What waits is dropped too: the reader must begin anew anyway.
      this.#lines = [this.overflowLine()];
      this.#size = this.#lines[0]!.length;
      this.end();
      return;
    }
    this.#lines.push(line);
    this.#size += line.length;
    this.#wake?.();
  }

  /** No more lines come; those that wait are still read. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
    this.#close();
  }

  /** Calls `f` once when the queue has ended, from either side. */
  onClose(f: () => void): void {
    if (this.#closed) f();
    else this.#onClose.push(f);
  }

  #close(): void {
    if (this.#closed) return;
    this.#closed = true;
    for (const f of this.#onClose) f();
    this.#onClose = [];
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<string> {
    try {
      for (;;) {
        while (this.#lines.length > 0) {
          const lines = this.#lines;
          this.#lines = [];
          this.#size = 0;
          yield lines.length === 1 ? lines[0]! : lines.join("");
        }
        if (this.#ended) return;
        await new Promise<void>((resolve) => this.#wake = resolve);
        this.#wake = undefined;
      }
    } finally {
      this.end();
      this.#lines = [];
    }
  }
}
