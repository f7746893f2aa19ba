/** Names, label keys and values, as apimachinery checks them. Each function gives the messages of what is wrong. @module */
import { byteLength } from "../go_text.ts";

const LABEL = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const QUALIFIED = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]";
const DNS1035 = "[a-z]([-a-z0-9]*[a-z0-9])?";

const LABEL_RE = new RegExp(`^${LABEL}$`);
const SUBDOMAIN_RE = new RegExp(`^${SUBDOMAIN}$`);
const QUALIFIED_RE = new RegExp(`^${QUALIFIED}$`);
const LABEL_VALUE_RE = new RegExp(`^(${QUALIFIED})?$`);
const DNS1035_RE = new RegExp(`^${DNS1035}$`);

function regexMessage(text: string, examples: string[], regex: string): string {
  const eg = examples.map((e) => `'${e}'`).join(",  or ");
  return `${text} (e.g. ${eg}, regex used for validation is '${regex}')`;
}

function tooLong(text: string, max: number): string[] {
  return byteLength(text) > max ? [`must be no more than ${max} bytes`] : [];
}

/** A DNS-1123 subdomain: most object names. */
export function subdomainErrors(name: string): string[] {
  const errors = tooLong(name, 253);
  // The length is checked first, so that the expression cannot be made to work hard.
  if (errors.length === 0 && !SUBDOMAIN_RE.test(name)) {
    errors.push(regexMessage(
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character",
      ["example.com"],
      SUBDOMAIN,
    ));
  }
  return errors;
}

/** A DNS-1123 label: namespaces. */
export function labelErrors(name: string): string[] {
  const errors = tooLong(name, 63);
  if (errors.length === 0 && !LABEL_RE.test(name)) {
    errors.push(regexMessage(
      "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character",
      ["my-name", "123-abc"],
      LABEL,
    ));
  }
  return errors;
}

/** A DNS-1035 label: services. */
export function dns1035Errors(name: string): string[] {
  const errors = tooLong(name, 63);
  if (errors.length === 0 && !DNS1035_RE.test(name)) {
    errors.push(regexMessage(
      "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character",
      ["my-name", "abc-123"],
      DNS1035,
    ));
  }
  return errors;
}

/** A name that may be one path segment: RBAC objects. */
export function pathSegmentErrors(name: string): string[] {
  if (name === "." || name === "..") return [`may not be '${name}'`];
  return ["/", "%"].filter((c) => name.includes(c)).map((c) => `may not contain '${c}'`);
}

/** `[prefix/]name`: label and annotation keys, finalizers. */
export function qualifiedNameErrors(text: string): string[] {
  const what = regexMessage(
    "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
    ["MyName", "my.name", "123-abc"],
    QUALIFIED,
  );
  const parts = text.split("/");
  if (parts.length > 2) {
    return [`a qualified name ${what} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`];
  }
  const errors: string[] = [];
  const name = parts.at(-1)!;
  if (parts.length === 2) {
    if (parts[0] === "") errors.push("prefix part must be non-empty");
    else errors.push(...subdomainErrors(parts[0]!).map((e) => `prefix part ${e}`));
  }
  if (name === "") errors.push("name part must be non-empty");
  else if (byteLength(name) > 63) errors.push("name part must be no more than 63 bytes");
  if (!QUALIFIED_RE.test(name)) errors.push(`name part ${what}`);
  return errors;
}

/** A label's value. */
export function labelValueErrors(value: string): string[] {
  const errors = tooLong(value, 63);
  if (!LABEL_VALUE_RE.test(value)) {
    errors.push(regexMessage(
      "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character",
      ["MyValue", "my_value", "12345"],
      `(${QUALIFIED})?`,
    ));
  }
  return errors;
}

/** How names of a kind are checked. */
export type NameRule = "dns1123Subdomain" | "dns1123Label" | "dns1035Label" | "pathSegment";

/** Errors of an object name; a prefix (generateName) may end with a dash. */
export function nameErrors(format: NameRule, name: string, prefix = false): string[] {
  const text = prefix && name.length > 1 && name.endsWith("-") ? name.slice(0, -1) + "a" : name;
  switch (format) {
    case "dns1123Label":
      return labelErrors(text);
    case "dns1035Label":
      return dns1035Errors(text);
    case "pathSegment":
      return pathSegmentErrors(text);
    default:
      return subdomainErrors(text);
  }
}
