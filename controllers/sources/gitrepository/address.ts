/** The address of a repository, checked before git sees it. @module */
import { GitFailure } from "./failure.ts";

/** A checked address. */
export interface Address {
  /** For git; has no password. */
  url: string;
  protocol: "https" | "http" | "ssh" | "file";
  /** Host with port, for messages and for the scope of credentials. */
  host: string;
}

const SCP = /^[A-Za-z0-9._][A-Za-z0-9._-]*@([A-Za-z0-9][A-Za-z0-9.-]*):[^:].*$/;
const SSH =
  /^ssh:\/\/(?:[A-Za-z0-9._][A-Za-z0-9._-]*@)?(?:[A-Za-z0-9][A-Za-z0-9.-]*|\[[0-9a-fA-F:.]+\])(?::[0-9]+)?\/.+$/;

/**
 * Checks `spec.url`: https, http, ssh or `user@host:path`; `file` only when allowed.
 * @throws GitFailure (InvalidURL) naming the mend
 */
export function parseAddress(text: string, options: { allowFile: boolean }): Address {
  // deno-lint-ignore no-control-regex
  if (/[\x00-\x20\x7f]/.test(text) || text.startsWith("-")) {
    throw invalid("it has a space, a control character or a leading -");
  }
  const scp = text.includes("://") ? null : SCP.exec(text);
  if (scp) {
    return { url: text, protocol: "ssh", host: scp[1]! };
  }
  const url = URL.parse(text);
  if (!url) throw invalid("write it as https://host/path, ssh://git@host/path or git@host:path");
  const protocol = url.protocol.slice(0, -1);
  if (protocol === "file") {
    if (!options.allowFile) throw invalid("file:// is not allowed here; use https or ssh");
    if (url.host) throw invalid("a file:// address has no host; write file:///path");
    return { url: text, protocol, host: "this machine" };
  }
  if (protocol !== "https" && protocol !== "http" && protocol !== "ssh") {
    throw invalid(`the protocol "${protocol.slice(0, 20)}" is not allowed; use https, http or ssh`);
  }
  if (url.password || (url.username && protocol !== "ssh")) {
    throw invalid("it has a user or password in it; take them out and put them into a Secret named by spec.secretRef");
  }
  if (text.includes("\\") || !/^[a-z]+:\/\/[^/]/i.test(text)) throw invalid("it names no host");
  if (protocol === "ssh" && !SSH.test(text)) throw invalid("write it as ssh://git@host/path or git@host:path");
  if (!url.hostname || url.hostname.startsWith("-") || url.username.startsWith("-")) throw invalid("it names no host");
  if (url.search || url.hash) throw invalid("it has a query or fragment; take it out");
  // Git is given what was checked, not another reading of the same text.
  return { url: protocol === "ssh" ? text : url.href, protocol, host: url.host };
}

function invalid(why: string): GitFailure {
  return new GitFailure("InvalidURL", `Cannot use spec.url: ${why}`);
}
