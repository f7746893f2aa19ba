/** zod → the structural OpenAPI v3 schema that CustomResourceDefinitions take. @module */
import * as z from "zod";
import type { OpenApiSchema, Value } from "../ssa/contract.ts";

const DROP = new Set(["$schema", "id", "$id"]);

/** Converts one zod schema; the result is a structural schema without `$ref`. */
export function toOpenApi(schema: z.ZodType): OpenApiSchema {
  const json = z.toJSONSchema(schema, { target: "openapi-3.0", io: "input", unrepresentable: "any", reused: "inline" });
  return structural(json as Record<string, unknown>);
}

function structural(node: Record<string, unknown>): OpenApiSchema {
  const out: OpenApiSchema = {};
  for (const [key, value] of Object.entries(node)) {
    if (DROP.has(key)) continue;
    if (key === "properties") {
      out.properties = Object.fromEntries(
        Object.entries(value as Record<string, Record<string, unknown>>).map(([k, v]) => [k, structural(v)]),
      );
    } else if (key === "items") out.items = structural(value as Record<string, unknown>);
    else if (key === "additionalProperties") {
      // Closed objects are told by pruning; loose ones by preserve-unknown-fields.
      if (
        typeof value === "object" && value !== null && node.properties === undefined &&
        !node["x-kubernetes-preserve-unknown-fields"]
      ) {
        out.additionalProperties = structural(value as Record<string, unknown>);
      }
    } else if (key === "propertyNames") continue;
    else out[key] = value as Value;
  }
  if (out.properties && Object.keys(out.properties).length === 0) delete out.properties;
  return out;
}
