/** Rules for names, labels and keys of data (RFC 1123, RFC 1035, qualified names). @module */
import type { JsonObject } from "../json/mod.ts";
import type { FieldError } from "../server/contract.ts";
import { invalid } from "./fields.ts";

/** What a name must be. `pathSegment`: only what a URL path can hold (rbac). */
export type NameRule = "dns1123Subdomain" | "dns1123Label" | "dns1035Label" | "pathSegment";

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const LABEL_1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";

const RULES = {
  dns1123Subdomain: {
    max: 253,
    pattern: new RegExp(`^${SUBDOMAIN}$`),
    message:
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
    example: "example.com",
    source: `[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*`,
  },
  dns1123Label: {
    max: 63,
    pattern: new RegExp(`^${LABEL}$`),
    message:
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
    example: "my-name',  or '123-abc",
    source: LABEL,
  },
  dns1035Label: {
    max: 63,
    pattern: new RegExp(`^${LABEL_1035}$`),
    message:
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
    example: "my-name',  or 'abc-123",
    source: LABEL_1035,
  },
} as const;

/** Errors of a name; none when it is fine. */
export function nameError(rule: NameRule, field: string, name: string): FieldError[] {
  if (rule === "pathSegment") {
    if (name === "." || name === "..") return [invalid(field, name, `may not be '${name}'`)];
    return ["/", "%"].filter((c) => name.includes(c)).map((c) => invalid(field, name, `may not contain '${c}'`));
  }
  const { max, pattern, message, example, source } = RULES[rule];
  const errors: FieldError[] = [];
  if (name.length > max) errors.push(invalid(field, name, `must be no more than ${max} characters`));
  if (!pattern.test(name)) {
    errors.push(invalid(field, name, `${message} (e.g. '${example}', regex used for validation is '${source}')`));
  }
  return errors;
}

const QUALIFIED = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;

/** Errors of labels: keys are qualified names, values at most 63 characters. */
export function labelErrors(labels: JsonObject | undefined, field: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const [key, value] of Object.entries(labels ?? {})) {
    const slash = key.indexOf("/");
    const name = key.slice(slash + 1);
    const prefix = slash < 0 ? undefined : key.slice(0, slash);
    if (
      !QUALIFIED.test(name) || name.length > 63 ||
      (prefix !== undefined && !RULES.dns1123Subdomain.pattern.test(prefix))
    ) {
      errors.push(
        invalid(
          field,
          key,
          "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')",
        ),
      );
    }
    if (typeof value !== "string") continue;
    if (value.length > 63) errors.push(invalid(field, value, "must be no more than 63 characters"));
    else if (!LABEL_VALUE.test(value)) {
      errors.push(
        invalid(
          field,
          value,
          "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')",
        ),
      );
    }
  }
  return errors;
}

/** Errors of a key in a ConfigMap or Secret. */
export function dataKeyErrors(field: string, key: string): FieldError[] {
  if (key.length > 253) return [invalid(field, key, "must be no more than 253 characters")];
  if (key === "." || key === "..") return [invalid(field, key, `must not be '${key}'`)];
  if (key.startsWith("..")) return [invalid(field, key, "must not start with '..'")];
  if (/^[-._a-zA-Z0-9]+$/.test(key)) return [];
  return [
    invalid(
      field,
      key,
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    ),
  ];
}
