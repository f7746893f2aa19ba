/** Which tag a version range means (C27). @module */
// @ts-types="./semver.d.ts"
import semver from "semver";
import type { Range, SemVer } from "./semver.d.ts";

/** A tag and the commit it leads to. */
export interface Tag {
  name: string;
  commit: string;
}

/**
 * The tags that `range` may mean, best first in version, all of equal precedence: several only when they differ in build
 * data alone. A tag named exactly like the range is meant by itself.
 *
 * @returns undefined when the range cannot be read
 */
export function tagsInRange(tags: readonly Tag[], range: string): Tag[] | undefined {
  const exact = tags.find((tag) => tag.name === range);
  if (exact) return [exact];
  const sets = parseRange(range);
  if (!sets) return undefined;
  let best: { tags: Tag[]; version: SemVer } | undefined;
  for (const tag of tags) {
    const version = versionOf(tag.name);
    if (!version || !sets.some((set) => satisfies(version, set))) continue;
    const order = best ? semver.compare(version, best.version) : 1;
    if (order > 0) best = { tags: [tag], version };
    else if (order === 0) best!.tags.push(tag);
  }
  return (best?.tags ?? []).sort((a, b) => a.name < b.name ? -1 : 1);
}

/** `v1.2.3`, `1.2.3`, and short ones such as `v1.2`. */
function versionOf(tag: string): SemVer | null {
  const short = /^v?(\d+)(?:\.(\d+))?$/.exec(tag);
  return semver.parse(short ? `${short[1]}.${short[2] ?? 0}.0` : tag);
}

/** Sets of comparators, any of which must be satisfied wholly. A comma means "and", as in Helm's ranges. */
function parseRange(range: string): Range[] | undefined {
  try {
    return range.split("||").map((set) => {
      const text = set.replaceAll(",", " ");
      const plain = new semver.Range(text);
      // A range that names a pre-release wants pre-releases everywhere in it, not of that one version only.
      const wantsPre = /\d-[0-9A-Za-z]/.test(text) &&
        plain.set.flat().some((c) => (c.semver.prerelease ?? []).length > 0);
      return wantsPre && !/\s-\s/.test(text) ? new semver.Range(text, { includePrerelease: true }) : plain;
    });
  } catch {
    return undefined;
  }
}

function satisfies(version: SemVer, range: Range): boolean {
  return range.test(version);
}
