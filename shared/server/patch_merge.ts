/** JSON merge patch (RFC 7386). @module */
import { isObject, type JsonObject, type JsonValue, setKey } from "../json/mod.ts";

/** The patched value. `target` may be changed in place. */
export function mergePatch(target: JsonValue | undefined, patch: JsonValue): JsonValue {
  if (!isObject(patch)) return patch;
  const object: JsonObject = isObject(target) ? target : {};
  for (const key of Object.keys(patch)) {
    const value = patch[key]!;
    if (value === null) delete object[key];
    else setKey(object, key, mergePatch(Object.hasOwn(object, key) ? object[key] : undefined, value));
  }
  return object;
}
