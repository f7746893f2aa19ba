/** get and list. @module */
import { isObject, type JsonObject, parseJson, stringifyJson } from "../json/mod.ts";
import type { ServerResponse } from "./contract.ts";
import { badRequest, gone, invalid, notFound, tooLargeResourceVersion } from "./errors.ts";
import type { Negotiated } from "./negotiate.ts";
import { keyOf, type Served } from "./registry.ts";
import { matches, parseSelector } from "./selectors.ts";
import { StorageCompacted, StorageFuture, type StoragePage, type StoredValue } from "./storage/contract.ts";
import type { Storage } from "./storage/contract.ts";
import { parsed, spliced } from "./stored.ts";
import { includeObjectOf, partialMetadata, tableRow, tableText } from "./table.ts";
import { invalidValue } from "./validate/field_error.ts";

/** What a read needs of the server. */
export interface ReadContext {
  storage: Storage;
  now: number;
}

/** One JSON text in the form asked for. */
export function render(
  served: Served,
  stored: StoredValue,
  form: Negotiated,
  query: URLSearchParams,
  now: number,
): string {
  const { kind, version } = served;
  const text = spliced(kind, version, stored.value, stored.revision);
  if (form.as === "object") return text;
  const object = parsed(kind, version, stored.value, stored.revision);
  if (form.as === "PartialObjectMetadata") return stringifyJson(partialMetadata(object, form.version));
  const row = tableRow(version, object, () => text, includeObjectOf(query), now);
  return tableText(version, [row], { resourceVersion: String(stored.revision) }, form.version);
}

/** The stored object. @throws StatusError 404 */
export async function getStored(
  storage: Storage,
  served: Served,
  namespace: string,
  name: string,
): Promise<StoredValue> {
  const stored = await storage.get(keyOf(served.kind, namespace, name));
  if (!stored) throw notFound(served.kind.gr, name);
  return stored;
}

/** A position in a list: the revision all pages are read at, and the last key given out, relative to the prefix. */
interface Continue {
  rv: number;
  after: string;
}

function encodeContinue(c: Continue): string {
  const bytes = new TextEncoder().encode(JSON.stringify({ v: "convoy/v1", rv: c.rv, after: c.after }));
  let binary = "";
  for (const b of bytes) binary += String.fromCharCode(b);
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

function decodeContinue(token: string): Continue {
  try {
    const binary = atob(token.replaceAll("-", "+").replaceAll("_", "/"));
    const json = parseJson(new TextDecoder().decode(Uint8Array.from(binary, (c) => c.charCodeAt(0))));
    if (
      isObject(json) && json.v === "convoy/v1" && typeof json.after === "string" &&
      typeof json.rv === "number" && Number.isSafeInteger(json.rv) && json.rv >= 0
    ) return { rv: json.rv, after: json.after };
  } catch {
    // Not a token of this server: told below.
  }
  throw badRequest("continue key is not valid: the token was not made by this server");
}

/** resourceVersion of a read; "" and "0" have their own meaning. @throws StatusError 400 */
export function parseResourceVersion(text: string): number {
  if (!/^\d{1,16}$/.test(text) || !Number.isSafeInteger(Number(text))) {
    throw badRequest(`Invalid value: ${JSON.stringify(text)}: resourceVersion must be a decimal number`);
  }
  return Number(text);
}

const MATCH_MODES = new Set(["", "Exact", "NotOlderThan"]);

/** Answers a list. */
export async function list(
  ctx: ReadContext,
  served: Served,
  namespace: string,
  query: URLSearchParams,
  form: Negotiated,
): Promise<ServerResponse> {
  const { kind, version } = served;
  const selector = parseSelector(query, version.selectable);
  const limit = limitOf(query);
  const token = query.get("continue") ?? "";
  const rvText = query.get("resourceVersion") ?? "";
  const match = query.get("resourceVersionMatch") ?? "";
  checkVersionParameters(token, rvText, match);
  const prefix = namespace ? `${kind.prefix}${namespace}/` : kind.prefix;
  let revision: number | undefined, after: string | undefined;
  if (token) {
    const position = decodeContinue(token);
    revision = position.rv;
    after = kind.prefix + position.after;
  } else if (rvText !== "" && rvText !== "0") {
    const asked = parseResourceVersion(rvText);
    const current = await ctx.storage.currentRevision();
    if (asked > current) throw tooLargeResourceVersion(asked, current);
    if (match === "Exact" || (match === "" && limit > 0)) revision = asked;
  }

  const parts: string[] = [];
  const include = form.as === "Table" ? includeObjectOf(query) : "None";
  let more = false, remaining: number | undefined, lastKey = "", at = revision;
  const take = (item: StoredValue): void => {
    let object: JsonObject | undefined;
    const parse = () => object ??= parsed(kind, version, item.value, item.revision);
    if (!matches(selector, item.value, parse)) return;
    if (form.as === "object") parts.push(spliced(kind, version, item.value, item.revision));
    else if (form.as === "PartialObjectMetadataList") {
      parts.push(stringifyJson(partialMetadata(parse(), form.version)));
    } else {
      parts.push(
        tableRow(version, parse(), () => spliced(kind, version, item.value, item.revision), include, ctx.now),
      );
    }
  };
  if (selector?.name && namespace && !token && revision === undefined) {
    at = await ctx.storage.currentRevision();
    const one = await ctx.storage.get(keyOf(kind, namespace, selector.name));
    if (one) take(one);
  } else {
    for (;;) {
      // With a selector a page of storage may hold few matches: read on, always at the first page's revision.
      const page: StoragePage = await readPage(ctx.storage, prefix, {
        ...(after === undefined ? {} : { after }),
        ...(limit > 0 ? { limit: selector ? Math.max(limit, 500) : limit } : {}),
        ...(at === undefined ? {} : { revision: at }),
      }, token !== "");
      at = page.revision;
      more = page.more;
      remaining = page.remaining;
      for (const [i, item] of page.items.entries()) {
        take(item);
        lastKey = item.key;
        if (limit > 0 && parts.length >= limit) {
          more = page.more || i < page.items.length - 1;
          break;
        }
      }
      if (!more || (limit > 0 && parts.length >= limit)) break;
      after = lastKey;
    }
  }
  const metadata: JsonObject = { resourceVersion: String(at ?? 0) };
  if (more && limit > 0) {
    metadata.continue = encodeContinue({ rv: at!, after: lastKey.slice(kind.prefix.length) });
    if (!selector && remaining !== undefined) metadata.remainingItemCount = remaining;
  }
  return { status: 200, headers: {}, body: wrap(served, form, parts, metadata) };
}

function wrap(served: Served, form: Negotiated, parts: string[], metadata: JsonObject): string {
  const { kind, version } = served;
  if (form.as === "Table") return tableText(version, parts, metadata, form.version);
  const [listKind, apiVersion] = form.as === "object"
    ? [kind.def.listKind ?? `${kind.def.kind}List`, version.apiVersion]
    : ["PartialObjectMetadataList", `meta.k8s.io/${form.version}`];
  return `{"kind":"${listKind}","apiVersion":"${apiVersion}","metadata":${stringifyJson(metadata)},"items":[${
    parts.join(",")
  }]}`;
}

async function readPage(
  storage: Storage,
  prefix: string,
  o: { after?: string; limit?: number; revision?: number },
  continued: boolean,
): Promise<StoragePage> {
  try {
    return await storage.list(prefix, o);
  } catch (error) {
    if (error instanceof StorageCompacted) {
      throw gone(
        continued
          ? "The provided continue parameter is too old to display a consistent list result. Start a new list without the continue parameter."
          : `too old resource version: ${o.revision} (${error.oldestRevision})`,
      );
    }
    if (error instanceof StorageFuture) throw tooLargeResourceVersion(o.revision ?? 0, error.currentRevision);
    throw error;
  }
}

function limitOf(query: URLSearchParams): number {
  const text = query.get("limit") ?? "";
  if (text === "") return 0;
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`);
  return Number(text);
}

function checkVersionParameters(token: string, rv: string, match: string): void {
  const errors = [];
  if (!MATCH_MODES.has(match)) {
    errors.push({
      field: "resourceVersionMatch",
      type: "FieldValueNotSupported" as const,
      message: `Unsupported value: ${JSON.stringify(match)}: supported values: "", "Exact", "NotOlderThan"`,
    });
  } else if (match !== "") {
    const why = rv === ""
      ? "resourceVersionMatch is forbidden unless resourceVersion is provided"
      : token !== ""
      ? "resourceVersionMatch is forbidden when continue is provided"
      : match === "Exact" && rv === "0"
      ? `resourceVersionMatch "Exact" is forbidden for resourceVersion "0"`
      : undefined;
    if (why) {
      errors.push({
        field: "resourceVersionMatch",
        type: "FieldValueForbidden" as const,
        message: `Forbidden: ${why}`,
      });
    }
  }
  if (token !== "" && rv !== "" && rv !== "0") {
    errors.push(invalidValue("resourceVersion", rv, "specifying resource version is not allowed when using continue"));
  }
  if (errors.length) throw invalid("meta.k8s.io", "ListOptions", "", errors);
}
