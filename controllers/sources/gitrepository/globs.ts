/** include and exclude: patterns as in .gitignore, without negation. @module */
import { RE2JS } from "re2js";
import { GitFailure } from "./failure.ts";

/**
 * Makes the filter of `spec.include` and `spec.exclude`. A pattern with a slash before its end counts from the root, one
 * without fits at any depth; one that fits a folder takes all below it. `*`, `?`, `[…]`, `**`.
 *
 * @returns whether a path is taken
 * @throws GitFailure (InvalidPattern)
 */
export function pathFilter(
  include: readonly string[] = [],
  exclude: readonly string[] = [],
): (path: string) => boolean {
  const inside = include.length > 0 ? compile(include, "include") : undefined;
  const outside = exclude.length > 0 ? compile(exclude, "exclude") : undefined;
  return (path) => (!inside || inside.matches(path)) && !outside?.matches(path);
}

function compile(patterns: readonly string[], field: string): RE2JS {
  const parts = patterns.map((pattern) => {
    if (pattern.startsWith("!")) {
      throw invalid(field, pattern, "negation is not supported; use the other of include and exclude");
    }
    if (pattern.length > 1024 || pattern === "" || pattern === "/") {
      throw invalid(field, pattern, "it is empty or too long");
    }
    return translate(pattern);
  });
  try {
    return RE2JS.compile(`(?:${parts.join("|")})`);
  } catch {
    throw invalid(field, patterns.join(" "), "a […] is not closed");
  }
}

/** RE2 has no backtracking: no pattern can be slow. */
function translate(pattern: string): string {
  const folder = pattern.endsWith("/");
  const body = pattern.replace(/^\/|\/$/g, "");
  const anchored = pattern.startsWith("/") || body.includes("/");
  let out = anchored ? "" : "(?:.*/)?";
  for (let i = 0; i < body.length; i++) {
    const rest = body.slice(i);
    const bracket = /^\[(!|\^)?(\]?[^\]/]*)\]/.exec(rest);
    if (rest.startsWith("**/") && (i === 0 || body[i - 1] === "/")) {
      out += "(?:.*/)?";
      i += 2;
    } else if (rest === "**" && (i === 0 || body[i - 1] === "/")) {
      out += ".*";
      i++;
    } else if (rest[0] === "*") out += "[^/]*";
    else if (rest[0] === "?") out += "[^/]";
    else if (bracket) {
      out += `[${bracket[1] ? "^/" : ""}${bracket[2]!.replace(/[\\[\]^]/g, "\\$&")}]`;
      i += bracket[0].length - 1;
    } else if (rest[0] === "\\" && rest.length > 1) out += RE2JS.quote(body[++i]!);
    else out += RE2JS.quote(rest[0]!);
  }
  return `${out}${folder ? "/.*" : "(?:/.*)?"}`;
}

function invalid(field: string, pattern: string, why: string): GitFailure {
  return new GitFailure("InvalidPattern", `Cannot use "${pattern.slice(0, 100)}" in spec.${field}: ${why}`);
}
