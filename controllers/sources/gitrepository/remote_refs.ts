/** What `spec.ref` means at the remote right now, without fetching anything. @module */
import { GitFailure } from "./failure.ts";
import { type Tag, tagsInRange } from "./versions.ts";

/** `spec.ref`. */
export interface RefSpec {
  branch?: string | undefined;
  tag?: string | undefined;
  semver?: string | undefined;
  commit?: string | undefined;
}

/** What to fetch. Several candidates are of one version, and the newest commit decides. */
export interface Resolved {
  /** Name for the revision: branch, tag, or `HEAD`; "" for a commit. */
  name: string;
  /** Full ref, such as refs/heads/main; "" for a commit. */
  ref: string;
  commit: string;
}

/** Patterns for `git ls-remote`; undefined for a commit, which needs no question. @throws GitFailure (InvalidRef) */
export function refPatterns(ref: RefSpec): string[] | undefined {
  if (ref.commit !== undefined) return undefined;
  if (ref.branch !== undefined) return [`refs/heads/${checkName(ref.branch, "branch")}`];
  if (ref.tag !== undefined) {
    const tag = checkName(ref.tag, "tag");
    return [`refs/tags/${tag}`, `refs/tags/${tag}^{}`];
  }
  return ref.semver !== undefined ? ["refs/tags/*"] : ["HEAD"];
}

/** The rules of git-check-ref-format, so that a name is a name and nothing else. */
function checkName(name: string, field: string): string {
  const bad = name === "" || name.length > 512 || name.startsWith("-") || name.endsWith(".") || name.includes("@{") ||
    // deno-lint-ignore no-control-regex
    /[\x00-\x20\x7f~^:?*[\\]|\.\.|^\/|\/$|\/\/|(^|\/)\.|\.lock(\/|$)/.test(name);
  if (bad) {
    throw new GitFailure(
      "InvalidRef",
      `Cannot use spec.ref.${field}: "${name.slice(0, 100)}" is no name of a ${field}`,
    );
  }
  return name;
}

/** Reads the answer of `git ls-remote --symref`. */
export function parseRefs(text: string): { refs: Map<string, string>; head: string | undefined } {
  const refs = new Map<string, string>();
  let head: string | undefined;
  for (const line of text.split("\n")) {
    const [value = "", name] = line.split("\t");
    if (name === undefined) continue;
    if (value.startsWith("ref: ")) { if (name === "HEAD") head = value.slice(5); }
    else if (/^([0-9a-f]{40}|[0-9a-f]{64})$/.test(value)) refs.set(name, value);
  }
  return { refs, head };
}

/**
 * Picks what the ref means. A tag object is peeled to its commit.
 * @throws GitFailure (RefNotFound, InvalidRef) with what is there instead
 */
export function pickRef(ref: RefSpec, text: string): Resolved[] {
  const { refs, head } = parseRefs(text);
  if (ref.branch !== undefined) {
    const commit = refs.get(`refs/heads/${ref.branch}`);
    if (!commit) throw missing(`the branch "${ref.branch}"`, "push it or mend spec.ref.branch");
    return [{ name: ref.branch, ref: `refs/heads/${ref.branch}`, commit }];
  }
  if (ref.tag !== undefined) {
    const commit = peeled(refs, ref.tag);
    if (!commit) throw missing(`the tag "${ref.tag}"`, "push it or mend spec.ref.tag");
    return [{ name: ref.tag, ref: `refs/tags/${ref.tag}`, commit }];
  }
  if (ref.semver !== undefined) return pickVersion(refs, ref.semver);
  const commit = refs.get("HEAD");
  if (!commit) throw missing("any commit at HEAD", "push a first commit, or name a branch in spec.ref.branch");
  const branch = head?.startsWith("refs/heads/") ? head.slice("refs/heads/".length) : undefined;
  return [{ name: branch ?? "HEAD", ref: branch ? head! : "HEAD", commit }];
}

function pickVersion(refs: Map<string, string>, range: string): Resolved[] {
  const tags: Tag[] = [];
  for (const name of refs.keys()) {
    if (!name.startsWith("refs/tags/") || name.endsWith("^{}")) continue;
    const tag = name.slice("refs/tags/".length);
    tags.push({ name: tag, commit: peeled(refs, tag)! });
  }
  const found = tagsInRange(tags, range);
  if (!found) {
    throw new GitFailure(
      "InvalidRef",
      `Cannot use spec.ref.semver: "${range.slice(0, 100)}" is no version range such as ">=1.2.0 <2"`,
    );
  }
  if (found.length === 0) {
    throw missing(
      `a tag in the range "${range}" among ${tags.length} tags`,
      "push one or mend spec.ref.semver (pre-releases count only when the range names one, as in >=1.0.0-0)",
    );
  }
  return found.map((tag) => ({ name: tag.name, ref: `refs/tags/${tag.name}`, commit: tag.commit }));
}

function peeled(refs: Map<string, string>, tag: string): string | undefined {
  return refs.get(`refs/tags/${tag}^{}`) ?? refs.get(`refs/tags/${tag}`);
}

function missing(what: string, mend: string): GitFailure {
  return new GitFailure("RefNotFound", `Cannot fetch: the remote does not have ${what}; ${mend}`);
}

/** `main@sha1:HEX`, or `sha1:HEX` for a commit. */
export function revisionOf(resolved: { name: string; commit: string }): string {
  const id = `${resolved.commit.length === 64 ? "sha256" : "sha1"}:${resolved.commit}`;
  return resolved.name ? `${resolved.name}@${id}` : id;
}

/** The parts of a revision made by {@link revisionOf}. */
export function parseRevision(revision: string): { name: string; commit: string } {
  const at = revision.lastIndexOf("@");
  const id = revision.slice(at + 1);
  return { name: at < 0 ? "" : revision.slice(0, at), commit: id.slice(id.indexOf(":") + 1) };
}
