/** Texts as Go prints them: quoting, JSON syntax errors. Used only where a message must equal kube-apiserver's. @module */

/** Go's `%q` of a string. */
export function goQuote(text: string): string {
  let out = '"';
  for (const ch of text) {
    const code = ch.codePointAt(0)!;
    if (ch === '"' || ch === "\\") out += "\\" + ch;
    else if (ch === "\n") out += "\\n";
    else if (ch === "\r") out += "\\r";
    else if (ch === "\t") out += "\\t";
    else if (code === 7) out += "\\a";
    else if (code === 8) out += "\\b";
    else if (code === 11) out += "\\v";
    else if (code === 12) out += "\\f";
    else if (code < 0x20 || code === 0x7f) out += "\\x" + code.toString(16).padStart(2, "0");
    else if (!isPrintable(ch)) {
      out += code > 0xffff ? "\\U" + code.toString(16).padStart(8, "0") : "\\u" + code.toString(16).padStart(4, "0");
    } else out += ch;
  }
  return out + '"';
}

const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

/** Go's `unicode.IsPrint` for one code point: letters, marks, numbers, punctuation, symbols and the ASCII space. */
export function isPrintable(ch: string): boolean {
  return PRINTABLE.test(ch);
}

/** Length in UTF-8 bytes. */
export function byteLength(text: string): number {
  let n = text.length;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c > 0x7f) n += c > 0x7ff ? (c >= 0xd800 && c <= 0xdfff ? 1 : 2) : 1;
  }
  return n;
}

/** Escapes `<`, `>`, `&` and the two line separators in JSON text, as Go's encoder does by default. */
export function htmlEscape(json: string): string {
  return /[<>&\u2028\u2029]/.test(json)
    ? json.replace(/[<>&\u2028\u2029]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"))
    : json;
}
