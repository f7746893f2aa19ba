/** What is told of YAML that cannot be read. @module */

/** Text that is not YAML, or YAML that is not JSON data. `line` and `column` count from 1; the message has no content. */
export class YamlError extends Error {
  override readonly name = "YamlError";
  constructor(
    /** What is wrong, without the place. */
    readonly problem: string,
    readonly file: string,
    readonly line: number,
    readonly column: number,
  ) {
    super(`Cannot read YAML: ${file ? `${file}:` : "line "}${line}:${column}: ${problem}`);
  }
}

/** Turns offsets into lines and columns of one text; asked in rising order it costs one pass. */
export class Positions {
  #at = 0;
  #line = 1;
  #lineStart = 0;
  constructor(private readonly text: string) {}

  /** Line and column (from 1) of an offset. */
  of(offset: number): { line: number; column: number } {
    if (offset < this.#at) {
      this.#at = 0;
      this.#line = 1;
      this.#lineStart = 0;
    }
    while (this.#at < offset) {
      const ch = this.text.charCodeAt(this.#at++);
      const lone = ch === 13 && this.text.charCodeAt(this.#at) !== 10;
      if (ch === 10 || lone) {
        this.#line++;
        this.#lineStart = this.#at;
      }
    }
    return { line: this.#line, column: offset - this.#lineStart + 1 };
  }
}
