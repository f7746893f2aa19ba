/** Checks of a CustomResourceDefinition: names, versions, and that its schemas are structural. @module */
import { isObject, type JsonObject, type JsonValue } from "../../json/mod.ts";
import type { FieldError } from "../contract.ts";
import { isJsonPath } from "../jsonpath.ts";
import { child, index } from "../schema/path.ts";
import { celRuleError } from "./cel.ts";
import { duplicate, forbiddenField, invalidValue, notSupported, required } from "./field_error.ts";
import { dns1035Errors, subdomainErrors } from "./names.ts";
import { isPattern } from "./value.ts";

const TYPES = ["array", "boolean", "integer", "number", "object", "string"];
/** Deeper schemas are refused, so that nothing that walks one can run out of stack. */
const MAX_DEPTH = 60;
/** Errors that one definition may be told. */
const MAX_ERRORS = 50;

function text(value: JsonValue | undefined): string {
  return typeof value === "string" ? value : "";
}

/** Errors of a definition; `old` is undefined on create. */
export function crdErrors(crd: JsonObject, old: JsonObject | undefined): FieldError[] {
  const spec = isObject(crd.spec) ? crd.spec : {};
  const names = isObject(spec.names) ? spec.names : {};
  const errors: FieldError[] = [];
  const group = text(spec.group), plural = text(names.plural), name = text((crd.metadata as JsonObject).name);
  for (const e of subdomainErrors(group)) errors.push(invalidValue("spec.group", group, e));
  if (group !== "" && !group.includes(".")) {
    errors.push(invalidValue("spec.group", group, "should be a domain with at least one dot"));
  }
  if (name !== `${plural}.${group}`) {
    errors.push(invalidValue("metadata.name", name, 'must be spec.names.plural+"."+spec.group'));
  }
  for (const key of ["plural", "singular"]) {
    const value = text(names[key]);
    if (value !== "") {
      for (const e of dns1035Errors(value)) errors.push(invalidValue(`spec.names.${key}`, value, e));
    }
  }
  for (const key of ["kind", "listKind"]) {
    const value = text(names[key]);
    if (value !== "") {
      for (const e of dns1035Errors(value.toLowerCase())) {
        errors.push(invalidValue(`spec.names.${key}`, value, `may have mixed case, but should otherwise match: ${e}`));
      }
    }
  }
  if (names.kind !== undefined && names.kind === names.listKind) {
    errors.push(invalidValue("spec.names.listKind", names.listKind, "kind and listKind may not be the same"));
  }
  if (!["Cluster", "Namespaced"].includes(text(spec.scope))) {
    errors.push(notSupported("spec.scope", spec.scope, ["Cluster", "Namespaced"]));
  }
  errors.push(...versionErrors(spec), ...immutableErrors(spec, old));
  return errors.slice(0, MAX_ERRORS);
}

function immutableErrors(spec: JsonObject, old: JsonObject | undefined): FieldError[] {
  const before = isObject(old?.spec) ? old.spec : undefined;
  if (!before) return [];
  return ["group", "scope"].filter((key) => spec[key] !== before[key])
    .map((key) => invalidValue(`spec.${key}`, spec[key], "field is immutable"));
}

function versionErrors(spec: JsonObject): FieldError[] {
  const versions = (Array.isArray(spec.versions) ? spec.versions : []).filter(isObject);
  if (versions.length === 0) {
    return [required("spec.versions", "must have exactly one version marked as storage version")];
  }
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  versions.forEach((version, i) => {
    const at = `spec.versions[${i}]`;
    const name = text(version.name);
    if (seen.has(name)) errors.push(duplicate(`${at}.name`, name));
    seen.add(name);
    for (const e of dns1035Errors(name)) errors.push(invalidValue(`${at}.name`, name, e));
    const schema = isObject(version.schema) ? version.schema.openAPIV3Schema : undefined;
    if (!isObject(schema)) errors.push(required(`${at}.schema.openAPIV3Schema`, "schemas are required"));
    else errors.push(...rootErrors(schema, `${at}.schema.openAPIV3Schema`));
    (Array.isArray(version.additionalPrinterColumns) ? version.additionalPrinterColumns : []).forEach((column, c) => {
      if (isObject(column) && !isJsonPath(text(column.jsonPath))) {
        errors.push(
          invalidValue(
            `${at}.additionalPrinterColumns[${c}].jsonPath`,
            column.jsonPath,
            "must be a simple json path starting with .",
          ),
        );
      }
    });
  });
  if (versions.filter((v) => v.storage === true).length !== 1) {
    errors.push(
      invalidValue(
        "spec.versions",
        versions.map((v) => v.name ?? ""),
        "must have exactly one version marked as storage version",
      ),
    );
  }
  return errors;
}

function rootErrors(schema: JsonObject, path: string): FieldError[] {
  if (schema.type !== "object") {
    return schema.type === undefined
      ? [required(`${path}.type`, "must not be empty at the root")]
      : [invalidValue(`${path}.type`, schema.type, "must be object at the root")];
  }
  const errors: FieldError[] = [];
  walk(schema, path, 0, true, errors);
  return errors;
}

/** One level of a structural schema. */
function walk(schema: JsonObject, path: string, depth: number, root: boolean, errors: FieldError[]): void {
  if (errors.length >= MAX_ERRORS) return;
  if (depth > MAX_DEPTH) {
    errors.push(forbiddenField(path, `must not be nested deeper than ${MAX_DEPTH} levels`));
    return;
  }
  if (schema.$ref !== undefined) errors.push(forbiddenField(`${path}.$ref`, "$ref is not supported"));
  const anything = schema["x-kubernetes-int-or-string"] === true ||
    schema["x-kubernetes-preserve-unknown-fields"] === true;
  if (schema.type === undefined) {
    if (!anything && !root) errors.push(required(`${path}.type`, "must not be empty for specified object fields"));
  } else if (!TYPES.includes(text(schema.type))) errors.push(notSupported(`${path}.type`, schema.type, TYPES));
  if (schema.pattern !== undefined && !isPattern(text(schema.pattern))) {
    errors.push(invalidValue(`${path}.pattern`, schema.pattern, "must be a valid regular expression"));
  }
  ruleErrors(schema, path, errors);
  if (schema.type === "array") listErrors(schema, path, errors);
  if (isObject(schema.items)) walk(schema.items, `${path}.items`, depth + 1, false, errors);
  if (isObject(schema.additionalProperties)) {
    walk(schema.additionalProperties, `${path}.additionalProperties`, depth + 1, false, errors);
  }
  const properties = isObject(schema.properties) ? schema.properties : {};
  for (const key of Object.keys(properties)) {
    // metadata of the object itself may only be restricted, and is checked elsewhere.
    if (root && (key === "metadata" || key === "apiVersion" || key === "kind")) continue;
    const property = properties[key];
    if (isObject(property)) walk(property, child(`${path}.properties`, key), depth + 1, false, errors);
  }
}

function ruleErrors(schema: JsonObject, path: string, errors: FieldError[]): void {
  const rules = schema["x-kubernetes-validations"];
  (Array.isArray(rules) ? rules : []).forEach((rule, i) => {
    if (!isObject(rule)) return;
    const at = `${index(`${path}.x-kubernetes-validations`, i)}.rule`;
    const why = text(rule.rule) === "" ? "rule is not specified" : celRuleError(text(rule.rule));
    if (why) errors.push(invalidValue(at, rule.rule, `compilation failed: ${why}`));
  });
}

function listErrors(schema: JsonObject, path: string, errors: FieldError[]): void {
  if (!isObject(schema.items)) errors.push(required(`${path}.items`, "must be specified"));
  const type = schema["x-kubernetes-list-type"];
  if (type !== undefined && !["atomic", "map", "set"].includes(text(type))) {
    errors.push(notSupported(`${path}.x-kubernetes-list-type`, type, ["atomic", "map", "set"]));
  }
  const keys = Array.isArray(schema["x-kubernetes-list-map-keys"]) ? schema["x-kubernetes-list-map-keys"] : [];
  const item = isObject(schema.items) ? schema.items : {};
  if (type === "map") {
    if (keys.length === 0) {
      errors.push(required(`${path}.x-kubernetes-list-map-keys`, "must be provided if x-kubernetes-list-type is map"));
    }
    const properties = isObject(item.properties) ? item.properties : {};
    const mandatory = Array.isArray(item.required) ? item.required : [];
    for (const key of keys) {
      const property = Object.hasOwn(properties, String(key)) ? properties[String(key)] : undefined;
      const at = `${path}.items.properties[${String(key)}]`;
      if (!isObject(property)) {
        errors.push(
          invalidValue(`${path}.x-kubernetes-list-map-keys`, keys, `entries must all be names of item properties`),
        );
      } else if (!mandatory.includes(key) && property.default === undefined) {
        errors.push(
          required(
            `${at}.default`,
            `this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property`,
          ),
        );
      }
    }
  } else if (type === "set" && item.nullable === true) {
    errors.push(forbiddenField(`${path}.items.nullable`, "cannot be nullable when x-kubernetes-list-type is set"));
  }
}
