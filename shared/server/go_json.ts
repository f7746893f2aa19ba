/**
 * A scanner for JSON text that tells what `JSON.parse` cannot: the syntax error in Go's words, the paths of duplicate
 * fields (with their lines), and the depth. It builds no values.
 *
 * @module
 */
import { goQuote } from "./go_text.ts";

/** Far above any real object, and low enough for every recursive walk. */
const MAX_DEPTH = 1_000;

/** A field that occurs twice in one object. */
export interface DuplicateField {
  /** `spec.list[0].name`. */
  path: string;
  key: string;
  /** Line of the second occurrence, from 1. */
  line: number;
}

/** The text is not JSON; `message` is Go's. */
export class GoJsonError extends Error {
  override readonly name = "GoJsonError";
}

/** Go's `encoding/json` message for text that is not JSON; undefined when it is JSON. */
export function goJsonError(text: string): string | undefined {
  try {
    new Scanner(text).run();
    return undefined;
  } catch (error) {
    if (error instanceof GoJsonError) return error.message;
    throw error;
  }
}

/** Duplicate fields of JSON text, in order. @throws GoJsonError */
export function duplicateFields(text: string): DuplicateField[] {
  return new Scanner(text).run();
}

class Scanner {
  #i = 0;
  #duplicates: DuplicateField[] = [];
  constructor(private readonly text: string) {}

  run(): DuplicateField[] {
    this.#space();
    this.#value("beginning of value");
    this.#space();
    if (this.#i < this.text.length) this.#fail("after top-level value");
    return this.#duplicates;
  }

  #end(): never {
    throw new GoJsonError("unexpected end of JSON input");
  }

  #fail(context: string): never {
    if (this.#i >= this.text.length) this.#end();
    const ch = String.fromCodePoint(this.text.codePointAt(this.#i)!);
    const shown = ch === "'" ? `'\\''` : ch === '"' ? `'"'` : `'${goQuote(ch).slice(1, -1)}'`;
    throw new GoJsonError(
      context.startsWith("in ") || context.startsWith("after ")
        ? `invalid character ${shown} ${context}`
        : `invalid character ${shown} looking for ${context}`,
    );
  }

  #space(): void {
    for (;;) {
      const c = this.text.charCodeAt(this.#i);
      if (c === 0x20 || c === 0x0a || c === 0x0d || c === 0x09) this.#i++;
      else return;
    }
  }

  /** Iterative, so that depth cannot overflow the stack. */
  #value(context: string): void {
    const stack: Frame[] = [];
    let expect = context;
    for (;;) {
      this.#space();
      const c = this.text[this.#i];
      if (c === "{") {
        this.#i++;
        if (stack.length >= MAX_DEPTH) throw new GoJsonError("exceeded max depth");
        const frame: Frame = { keys: new Set(), index: -1, key: "" };
        stack.push(frame);
        this.#space();
        if (this.text[this.#i] === "}") {
          this.#i++;
          stack.pop();
        } else {
          this.#key(frame, stack, "beginning of object key string");
          expect = "beginning of value";
          continue;
        }
      } else if (c === "[") {
        this.#i++;
        if (stack.length >= MAX_DEPTH) throw new GoJsonError("exceeded max depth");
        stack.push({ keys: undefined, index: 0, key: "" });
        this.#space();
        if (this.text[this.#i] === "]") {
          this.#i++;
          stack.pop();
        } else {
          expect = "beginning of value";
          continue;
        }
      } else this.#scalar(c, expect);
      // The value ended: close or continue what holds it.
      for (;;) {
        const frame = stack.at(-1);
        if (!frame) return;
        this.#space();
        const next = this.text[this.#i];
        if (frame.keys) {
          if (next === ",") {
            this.#i++;
            this.#space();
            this.#key(frame, stack, "beginning of object key string");
            break;
          }
          if (next !== "}") this.#fail("after object key:value pair");
        } else {
          if (next === ",") {
            this.#i++;
            frame.index++;
            break;
          }
          if (next !== "]") this.#fail("after array element");
        }
        this.#i++;
        stack.pop();
      }
      expect = "beginning of value";
    }
  }

  #key(frame: Frame, stack: Frame[], context: string): void {
    const start = this.#i;
    if (this.text[start] !== '"') this.#fail(context);
    this.#string();
    const raw = this.text.slice(start, this.#i);
    const key = raw.includes("\\") ? JSON.parse(raw) as string : raw.slice(1, -1);
    frame.key = key;
    if (frame.keys!.has(key)) {
      let line = 1;
      for (let i = 0; i < start; i++) if (this.text.charCodeAt(i) === 10) line++;
      this.#duplicates.push({ path: pathOf(stack), key, line });
    } else frame.keys!.add(key);
    this.#space();
    if (this.text[this.#i] !== ":") this.#fail("after object key");
    this.#i++;
  }

  #string(): void {
    this.#i++;
    for (;;) {
      if (this.#i >= this.text.length) this.#end();
      const c = this.text.charCodeAt(this.#i);
      if (c === 0x22) {
        this.#i++;
        return;
      }
      if (c < 0x20) this.#fail("in string literal");
      if (c === 0x5c) {
        this.#i++;
        const e = this.text[this.#i];
        if (e === undefined) this.#end();
        if (e === "u") {
          for (let k = 0; k < 4; k++) {
            this.#i++;
            const h = this.text[this.#i];
            if (h === undefined) this.#end();
            if (!/[0-9a-fA-F]/.test(h)) this.#fail("in \\u hexadecimal character escape");
          }
        } else if (!'"\\/bfnrt'.includes(e)) this.#fail("in string escape code");
      }
      this.#i++;
    }
  }

  #scalar(c: string | undefined, context: string): void {
    if (c === undefined) this.#end();
    if (c === '"') return this.#string();
    for (const word of ["true", "false", "null"]) {
      if (c === word[0]) {
        for (let k = 1; k < word.length; k++) {
          this.#i++;
          if (this.text[this.#i] !== word[k]) this.#fail(`in literal ${word} (expecting '${word[k]}')`);
        }
        this.#i++;
        return;
      }
    }
    if (c === "-" || (c >= "0" && c <= "9")) return this.#number();
    this.#fail(context);
  }

  #number(): void {
    const digit = () => {
      const c = this.text[this.#i];
      return c !== undefined && c >= "0" && c <= "9";
    };
    if (this.text[this.#i] === "-") {
      this.#i++;
      if (!digit()) this.#fail("in numeric literal");
    }
    if (this.text[this.#i] === "0") this.#i++;
    else while (digit()) this.#i++;
    if (this.text[this.#i] === ".") {
      this.#i++;
      if (!digit()) this.#fail("after decimal point in numeric literal");
      while (digit()) this.#i++;
    }
    if (this.text[this.#i] === "e" || this.text[this.#i] === "E") {
      this.#i++;
      if (this.text[this.#i] === "+" || this.text[this.#i] === "-") this.#i++;
      if (!digit()) this.#fail("in exponent of numeric literal");
      while (digit()) this.#i++;
    }
  }
}

interface Frame {
  keys: Set<string> | undefined;
  index: number;
  key: string;
}

function pathOf(stack: readonly Frame[]): string {
  let path = "";
  for (const f of stack) path += f.keys ? (path ? "." : "") + f.key : `[${f.index}]`;
  return path;
}
