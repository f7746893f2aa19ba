/** What a command prints: one place for the formats `table`, `wide`, `json`, `yaml` and `name`. @module */
import { stringifyJson } from "../shared/json/mod.ts";
import { toYaml } from "../shared/yaml/mod.ts";

/** The formats of `-o`. */
export const FORMATS = ["table", "wide", "json", "yaml", "name"] as const;
/** One of them. */
export type Format = typeof FORMATS[number];

/** The user's mistake: printed without a stack, exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Checks the value of `-o`. @throws UsageError */
export function parseFormat<T extends Format = Format>(
  value: string,
  allowed: readonly T[] = FORMATS as readonly Format[] as readonly T[],
): T {
  const found = allowed.find((f) => f === value);
  if (!found) throw new UsageError(`Cannot print as "${value}": -o takes ${allowed.join(", ")}`);
  return found;
}

/** meta.k8s.io/v1 Table, as far as it is printed. */
export interface Table {
  columnDefinitions: { name: string; priority?: number }[];
  rows: { cells: unknown[]; object?: { metadata?: { name: string; namespace?: string } } }[];
}

/** Lays a table out as kubectl does: upper-case heads, columns padded by three spaces, nothing after the last. */
export function layTable(table: Table, o: { wide?: boolean; namespaces?: boolean; head?: boolean } = {}): string {
  const shown = table.columnDefinitions.map((c, i) => ({ ...c, i })).filter((c) => o.wide || !c.priority);
  const head = [...(o.namespaces ? ["NAMESPACE"] : []), ...shown.map((c) => c.name.toUpperCase())];
  const rows = table.rows.map((row) => [
    ...(o.namespaces ? [row.object?.metadata?.namespace ?? ""] : []),
    ...shown.map((c) => cell(row.cells[c.i])),
  ]);
  return layRows(o.head === false ? rows : [head, ...rows]);
}

/** Pads rows to columns. */
export function layRows(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) row.forEach((text, i) => widths[i] = Math.max(widths[i] ?? 0, text.length));
  return rows.map((row) =>
    row.map((text, i) => i === row.length - 1 ? text : text.padEnd(widths[i]! + 3)).join("").trimEnd()
  )
    .join("\n");
}

function cell(value: unknown): string {
  if (value === null || value === undefined || value === "") return "<none>";
  // A line break or an escape sequence in a message must not break the table or the terminal.
  // deno-lint-ignore no-control-regex
  return String(value).replace(/[\u0000-\u001f\u007f]+/g, " ");
}

/** An object or a list as JSON or YAML; managedFields are left out as kubectl does. */
export function dump(value: unknown, format: "json" | "yaml", o: { managedFields?: boolean } = {}): string {
  const shown = o.managedFields ? value : withoutManagedFields(value);
  return format === "json" ? stringifyJson(shown, 4) : toYaml(shown as never).trimEnd();
}

function withoutManagedFields(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const object = value as { items?: unknown[]; metadata?: Record<string, unknown> };
  if (Array.isArray(object.items)) return { ...object, items: object.items.map(withoutManagedFields) };
  if (!object.metadata) return value;
  const { managedFields: _, ...metadata } = object.metadata;
  return { ...object, metadata };
}
