/** The typed errors of the library. The caller maps them to HTTP: TypedError → 400, ConflictError → 409. @module */
import type { ConflictCause, FieldMessage } from "./contract.ts";

/** A value does not fit its schema in a way that forbids apply (ssa.md 21). All errors are told, in a fixed order. */
export class TypedError extends Error {
  override readonly name = "TypedError";
  /**
   * @param errors every error with its path
   * @param prefix text before them, e.g. `failed to create typed patch object (ns/x; g/v, Kind=K): `
   */
  constructor(readonly errors: readonly FieldMessage[], prefix = "") {
    super(prefix + describe(errors));
  }
}

/** Other managers own what the apply would change (ssa.md 36, 56). `causes` are sorted by manager, then path. */
export class ConflictError extends Error {
  override readonly name = "ConflictError";
  constructor(message: string, readonly causes: readonly ConflictCause[]) {
    super(message);
  }
}

function describe(errors: readonly FieldMessage[]): string {
  const lines = errors.map((e) => e.field === "" ? e.message : `${e.field}: ${e.message}`);
  return lines.length === 1 ? lines[0]! : `errors:\n${lines.map((l) => `  ${l}`).join("\n")}`;
}
