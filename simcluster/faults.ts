/** The faults of one cluster, and what they do to a request. @module */
import { failure } from "../shared/kube/status.ts";
import type { RequestAttributes } from "../shared/server/contract.ts";
import type { CrashFault, Faults, RefuseFault } from "./types.ts";

const WRITES = new Set(["create", "update", "patch", "delete", "deletecollection"]);
const CODES = {
  403: "Forbidden",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
};

/** True when `text` matches `pattern`, in which `*` stands for any text; an absent pattern matches all. */
export function matches(pattern: string | undefined, text: string): boolean {
  if (pattern === undefined || pattern === "*" || pattern === text) return true;
  if (!pattern.includes("*")) return false;
  const parts = pattern.split("*");
  if (!text.startsWith(parts[0]!) || !text.endsWith(parts.at(-1)!)) return false;
  let at = 0;
  for (const part of parts) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length >= pattern.length - (parts.length - 1);
}

/** Holds the faults of one cluster; tells listeners when they change. */
export class FaultState {
  #faults: Faults = {};
  #left = new Map<RefuseFault, number>();
  #listeners = new Set<() => void>();

  /** The faults now. */
  get current(): Readonly<Faults> {
    return this.#faults;
  }

  /** Replaces all faults; `{}` takes them back. */
  set(faults: Faults): void {
    this.#faults = structuredClone(faults);
    this.#left = new Map((this.#faults.refuse ?? []).map((r) => [r, r.times ?? Infinity]));
    for (const listener of [...this.#listeners]) listener();
  }

  /** Changes some faults and leaves the others. */
  update(faults: Faults): void {
    this.set({ ...this.#faults, ...faults });
  }

  /** Calls back after each change. Returns the remover. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Whether the pods of a workload crash. */
  crashes(kind: string, namespace: string, name: string): boolean {
    return (this.#faults.crash ?? []).some((c: CrashFault) =>
      matches(c.kind, kind) && matches(c.namespace, namespace) && matches(c.name, name)
    );
  }

  /** @throws StatusError when the request is to be refused */
  refuse(a: RequestAttributes): void {
    for (const fault of this.#faults.refuse ?? []) {
      const left = this.#left.get(fault) ?? 0;
      if (left <= 0 || !this.#hits(fault, a)) continue;
      this.#left.set(fault, left - 1);
      const code = fault.code ?? 500;
      const what = a.name ? `${a.resource} "${a.name}"` : a.resource || a.path;
      throw failure(
        code,
        CODES[code],
        fault.message ?? `${what} is refused: a fault was told to this simulated cluster`,
      );
    }
  }

  #hits(fault: RefuseFault, a: RequestAttributes): boolean {
    const verb = fault.verb === undefined || fault.verb === a.verb || (fault.verb === "write" && WRITES.has(a.verb));
    return verb && matches(fault.group, a.group) && matches(fault.resource, a.resource) &&
      matches(fault.namespace, a.namespace) && matches(fault.name, a.name);
  }
}

/**
 * Reads faults from JSON.
 *
 * @throws StatusError 400 that names the field
 */
export function parseFaults(value: unknown): Faults {
  const bad = (field: string, why: string) => failure(400, "BadRequest", `Cannot set faults: ${field} ${why}`);
  if (value === null || typeof value !== "object" || Array.isArray(value)) throw bad("faults", "must be an object");
  const { slow, down, crash, refuse, ...rest } = value as Record<string, unknown>;
  const unknown = Object.keys(rest)[0];
  if (unknown !== undefined) throw bad(`faults.${unknown}`, "is unknown: known are slow, down, crash and refuse");
  const faults: Faults = {};
  if (slow !== undefined) {
    if (typeof slow !== "number" || !(slow >= 0)) throw bad("faults.slow", "must be a number of milliseconds");
    faults.slow = slow;
  }
  if (down !== undefined) {
    if (typeof down !== "boolean") throw bad("faults.down", "must be true or false");
    faults.down = down;
  }
  const objects = <T>(field: string, v: unknown, check: (o: Record<string, unknown>) => string | undefined): T[] => {
    if (!Array.isArray(v)) throw bad(`faults.${field}`, "must be a list of objects");
    v.forEach((o, i) => {
      const isObject = o !== null && typeof o === "object" && !Array.isArray(o);
      const why = isObject ? check(o as Record<string, unknown>) : "must be an object";
      if (why) throw bad(`faults.${field}[${i}]`, why);
    });
    return v as T[];
  };
  if (crash !== undefined) {
    faults.crash = objects<CrashFault>(
      "crash",
      crash,
      (o) => typeof o["name"] === "string" ? undefined : "needs a name",
    );
  }
  if (refuse !== undefined) {
    faults.refuse = objects<RefuseFault>(
      "refuse",
      refuse,
      (o) =>
        o["code"] === undefined || Object.hasOwn(CODES, String(o["code"]))
          ? undefined
          : `has the code ${o["code"]}: known are ${Object.keys(CODES).join(", ")}`,
    );
  }
  return faults;
}
