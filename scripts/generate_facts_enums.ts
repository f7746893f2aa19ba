/**
 * Enums of the built-in kinds. The OpenAPI documents inside the module k8s.io/kubernetes name none, a live server does:
 * it takes them from the types marked `+enum` in the Go module k8s.io/api, and so does this.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import type { OpenApiSchema } from "../shared/ssa/contract.ts";

/** What the Go source of one package says. */
interface GoPackage {
  /** Values by type. */
  enums: Map<string, string[]>;
  /** Structs: type by JSON name; embedded structs under "". */
  structs: Map<string, { name: string; type: string }[]>;
}

const TYPE = /^type (\w+) string\b/;
const STRUCT = /^type (\w+) struct \{/;
const FIELD = /^\t(?:(\w+)\s+)?([*\[\]\w.]+)\s+`json:"([^",]*)(,inline)?/;
const CONST = /^\s*(?:\w+)\s+(\w+)\s*=\s*"([^"]*)"/;

function parseGo(source: string): GoPackage {
  const enums = new Map<string, string[]>();
  const structs: GoPackage["structs"] = new Map();
  let marked = false;
  let fields: { name: string; type: string }[] | undefined;
  for (const line of source.split("\n")) {
    if (fields) {
      if (line === "}") fields = undefined;
      const field = FIELD.exec(line);
      if (field) fields?.push({ name: field[3]!, type: field[2]! });
      continue;
    }
    if (line.startsWith("//")) {
      if (/^\/\/ *\+enum\b/.test(line)) marked = true;
      continue;
    }
    const type = TYPE.exec(line);
    if (type && marked) enums.set(type[1]!, []);
    const struct = STRUCT.exec(line);
    if (struct) structs.set(struct[1]!, fields = []);
    const constant = CONST.exec(line);
    if (constant) enums.get(constant[1]!)?.push(constant[2]!);
    marked = false;
  }
  // Constants may stand before their type.
  for (const line of source.split("\n")) {
    const constant = CONST.exec(line);
    const values = constant && enums.get(constant[1]!);
    if (values && !values.includes(constant[2]!)) values.push(constant[2]!);
  }
  return { enums, structs };
}

function fieldsOf(go: GoPackage, struct: string): { name: string; type: string }[] {
  return (go.structs.get(struct) ?? []).flatMap((f) => f.name === "" ? fieldsOf(go, f.type) : [f]);
}

/** Adds the enums to the schemas, in place. `apiDir`: folder of the Go module k8s.io/api. */
export async function addEnums(schemas: Record<string, OpenApiSchema>, apiDir: string): Promise<void> {
  const packages = new Map<string, GoPackage>();
  const load = async (path: string) => {
    const known = packages.get(path);
    if (known) return known;
    const go = parseGo(await readFile(`${apiDir}/${path}/types.go`, "utf8"));
    packages.set(path, go);
    return go;
  };
  const core = await load("core/v1");
  for (const [name, schema] of Object.entries(schemas)) {
    const match = /^io\.k8s\.api\.(\w+)\.(\w+)\.(\w+)$/.exec(name);
    if (!match) continue;
    const go = await load(`${match[1]}/${match[2]}`);
    for (const field of fieldsOf(go, match[3]!)) {
      const property = schema.properties?.[field.name];
      const bare = field.type.replace(/^[*\[\]]+/, "");
      const values = bare.includes(".") ? core.enums.get(bare.split(".")[1]!) : go.enums.get(bare);
      if (!property || !values?.length) continue;
      const target = property.type === "array" ? property.items : property;
      if (target?.type === "string") target.enum = [...values].sort();
    }
  }
}
