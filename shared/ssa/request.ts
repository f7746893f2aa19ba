/** Checks of what a request says about managers (rules 14, 15, 57). @module */
import type { FieldMessage, Value } from "./contract.ts";
import { isObj } from "./value.ts";

const MANAGER_MAX = 128;
const SUBRESOURCE_MAX = 256;
const PRINTABLE = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]$/u;

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

/**
 * The manager of an Update without fieldManager: the User-Agent before "/", printable characters only, at most 128 bytes
 * (rule 14). "" stands for `unknown`: {@link ./update.ts} puts that in.
 *
 * @param userAgent the header as HTTP libraries give it, one character per byte; or already decoded
 */
export function managerFromUserAgent(userAgent: string): string {
  const decoded = decodeHeader(userAgent);
  const slash = decoded.indexOf("/");
  let out = "";
  let size = 0;
  for (const char of slash < 0 ? decoded : decoded.slice(0, slash)) {
    if (!PRINTABLE.test(char)) continue;
    size += bytesOf(char);
    if (size > MANAGER_MAX) break;
    out += char;
  }
  return out;
}

/** Bytes to text; what is no UTF-8 becomes U+FFFD. */
function decodeHeader(text: string): string {
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code > 0xff) return text;
    bytes[i] = code;
  }
  return new TextDecoder().decode(bytes);
}

/** Errors of a fieldManager parameter as rule 57 words them, without the field's name; undefined when it is right. */
export function fieldManagerError(manager: string): string | undefined {
  if (bytesOf(manager) > MANAGER_MAX) return `Too long: may not be more than ${MANAGER_MAX} bytes`;
  let position = 0;
  for (const char of manager) {
    if (!PRINTABLE.test(char)) {
      const code = char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
      return `Invalid value: ${JSON.stringify(manager)}: invalid character U+${code} (at position ${position})`;
    }
    position += bytesOf(char);
  }
  return undefined;
}

/** 422 errors of posted managedFields: names that are too long (rule 15). */
export function validateManagedFields(entries: Value | undefined): FieldMessage[] {
  const errors: FieldMessage[] = [];
  if (!Array.isArray(entries)) return errors;
  entries.forEach((entry, i) => {
    if (!isObj(entry)) return;
    for (const [key, max] of [["manager", MANAGER_MAX], ["subresource", SUBRESOURCE_MAX]] as const) {
      const value = entry[key];
      if (typeof value === "string" && bytesOf(value) > max) {
        errors.push({
          field: `metadata.managedFields[${i}].${key}`,
          message: `Too long: may not be more than ${max} bytes`,
        });
      }
    }
  });
  return errors;
}
