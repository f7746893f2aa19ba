/** deletecollection: all objects that a list with the same selectors would give. @module */
import { stringifyJson } from "../json/mod.ts";
import { StatusError } from "./errors.ts";
import { type DeleteHow, deleteObject } from "./delete.ts";
import type { Served } from "./registry.ts";
import { matches, parseSelector } from "./selectors.ts";
import { metaText, parsed, spliced } from "./stored.ts";
import type { WriteHost } from "./write.ts";

/** Objects that are deleted at a time. */
const PAGE = 200;

/** Deletes the matching objects; answers with the list of them as they were. */
export async function deleteCollection(
  host: WriteHost,
  served: Served,
  namespace: string,
  query: URLSearchParams,
  how: DeleteHow,
): Promise<string> {
  const { kind, version } = served;
  const selector = parseSelector(query, version.selectable);
  const prefix = namespace ? `${kind.prefix}${namespace}/` : kind.prefix;
  const texts: string[] = [];
  let after: string | undefined, revision: number | undefined;
  do {
    // All pages are of one revision: what is made meanwhile is not meant.
    const page = await host.storage.list(prefix, {
      limit: PAGE,
      ...(after === undefined ? {} : { after }),
      ...(revision === undefined ? {} : { revision }),
    });
    revision ??= page.revision;
    after = page.more ? page.items.at(-1)!.key : undefined;
    for (const item of page.items) {
      const object = parsed(kind, version, item.value, item.revision);
      if (!matches(selector, item.value, () => object)) continue;
      try {
        await deleteObject(host, served, metaText(object, "namespace"), metaText(object, "name"), {
          ...how,
          uid: metaText(object, "uid"),
        });
        texts.push(spliced(kind, version, item.value, item.revision));
      } catch (error) {
        // Gone, or made anew meanwhile.
        if (!(error instanceof StatusError) || (error.code !== 404 && error.code !== 409)) throw error;
      }
    }
  } while (after !== undefined);
  const listKind = kind.def.listKind ?? `${kind.def.kind}List`;
  return `{"kind":"${listKind}","apiVersion":"${version.apiVersion}","metadata":${
    stringifyJson({ resourceVersion: String(revision ?? 0) })
  },"items":[${texts.join(",")}]}`;
}
