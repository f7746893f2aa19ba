/** The token file: `token,user,uid,"group1,group2"` a line, as kube-apiserver's `--token-auth-file`. @module */
import { createHash } from "node:crypto";
import type { Clock } from "../../runtime/clock.ts";
import type { Logger } from "../../runtime/logger.ts";
import type { UserInfo } from "../contract.ts";
import { type Authenticator, bearerToken } from "./authenticate.ts";

/** How often the file is looked at, at most, ms. */
const LOOK_EVERY = 1_000;

/** A token and whose it is. */
export interface TokenEntry {
  token: string;
  user: UserInfo;
}

/**
 * Reads token lines. Empty lines and lines that begin with `#` are skipped.
 *
 * @throws Error that names the line and never shows what is in it
 */
export function parseTokens(text: string, file = "the token file"): TokenEntry[] {
  const entries: TokenEntry[] = [];
  const seen = new Set<string>();
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const refuse = (why: string) => new Error(`Cannot read ${file}: line ${index + 1}: ${why}`);
    const fields = splitCsv(line);
    if (!fields) throw refuse("a quote is not closed");
    const [token = "", name = "", uid = "", groups = ""] = fields.map((field) => field.trim());
    if (fields.length < 3) throw refuse(`it has ${fields.length} fields and needs token,user,uid[,"group1,group2"]`);
    if (token === "" || name === "") throw refuse("token and user must not be empty");
    if (/\s/.test(token)) throw refuse("a token must not have spaces in it");
    if (seen.has(token)) throw refuse("the token is there twice");
    seen.add(token);
    const user: UserInfo = { name, groups: groups.split(",").map((g) => g.trim()).filter((g) => g !== "") };
    if (uid) user.uid = uid;
    entries.push({ token, user });
  }
  return entries;
}

/** The fields of a CSV line; undefined when a quote is not closed. */
function splitCsv(line: string): string[] | undefined {
  const fields: string[] = [];
  let field = "", quoted = false;
  for (let i = 0; i < line.length; i++) {
    const c = line[i];
    if (quoted && c === '"' && line[i + 1] === '"') field += line[++i];
    else if (c === '"') quoted = !quoted;
    else if (c === "," && !quoted) {
      fields.push(field);
      field = "";
    } else field += c;
  }
  fields.push(field);
  return quoted ? undefined : fields;
}

/**
 * Authenticates bearer tokens of a fixed set. Tokens are looked up by their SHA-256, so that the time it takes says
 * nothing about how much of a guess was right.
 */
export function tokenAuthenticator(entries: () => readonly TokenEntry[]): Authenticator {
  let known: readonly TokenEntry[] | undefined;
  let users = new Map<string, UserInfo>();
  return {
    async authenticate({ headers }) {
      const token = bearerToken(headers);
      if (token === undefined) return headers["authorization"] === undefined ? undefined : "invalid";
      const now = entries();
      if (now !== known) {
        users = new Map(now.map((entry) => [digest(entry.token), entry.user]));
        known = now;
      }
      return users.get(digest(token)) ?? "invalid";
    },
  };
}

function digest(token: string): string {
  return createHash("sha256").update(token).digest("base64");
}

/**
 * The tokens of a file, read again when it changes. While a changed file cannot be read, the last good state holds.
 *
 * @throws Error when the file cannot be read at the start
 */
export function tokenFile(path: string, clock: Clock, logger: Logger): () => readonly TokenEntry[] {
  const stamp = () => {
    const { mtime, size, ino } = Deno.statSync(path);
    return `${mtime?.getTime()} ${size} ${ino}`;
  };
  const read = () => {
    try {
      return parseTokens(Deno.readTextFileSync(path), path);
    } catch (error) {
      if (error instanceof Error && error.message.startsWith("Cannot read")) throw error;
      throw new Error(`Cannot read the token file ${path}: ${(error as Error).message}`, { cause: error });
    }
  };
  let entries = read(), seen = stamp(), looked = clock.now();
  return () => {
    if (clock.now() - looked < LOOK_EVERY) return entries;
    looked = clock.now();
    try {
      const now = stamp();
      if (now === seen) return entries;
      seen = now;
      entries = read();
    } catch (error) {
      logger.error("Cannot reload the token file; the tokens read before stay valid", error, { file: path });
    }
    return entries;
  };
}
