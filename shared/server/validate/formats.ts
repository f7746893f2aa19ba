/** String formats that OpenAPI schemas of Kubernetes may name; an unknown format is no constraint. @module */

const RFC3339 = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/;
const HOSTNAME = /^([a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)*[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.?$/;
const DURATION =
  /^[-+]?(\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h)(((\d+(\.\d*)?|\.\d+)(ns|us|µs|μs|ms|s|m|h))*)$|^[-+]?0$/;
const UUID = /^[0-9a-fA-F]{8}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{4}-?[0-9a-fA-F]{12}$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const EMAIL = /^[^\s@<>()[\]\\,;:"]+@[^\s@<>()[\]\\,;:"]+$/;

const CHECKS: Record<string, (text: string) => boolean> = {
  "date-time": (t) => RFC3339.test(t) && isDate(t.slice(0, 10)),
  date: (t) => /^\d{4}-\d{2}-\d{2}$/.test(t) && isDate(t),
  byte: (t) => BASE64.test(t),
  email: (t) => EMAIL.test(t),
  hostname: (t) => t.length <= 255 && HOSTNAME.test(t),
  ipv4: isIpv4,
  ipv6: isIpv6,
  cidr: (t) => {
    const [ip, bits, ...more] = t.split("/");
    if (more.length || bits === undefined || !/^\d{1,3}$/.test(bits)) return false;
    return isIpv4(ip!) ? Number(bits) <= 32 : isIpv6(ip!) && Number(bits) <= 128;
  },
  mac: (t) => /^([0-9a-fA-F]{2}([:-]|$)){6}$/.test(t),
  uuid: (t) => UUID.test(t),
  uri: (t) => /^[a-zA-Z][a-zA-Z0-9+.-]*:\S*$/.test(t) || /^\/\S*$/.test(t),
  duration: (t) => DURATION.test(t),
};

function isDate(text: string): boolean {
  const date = new Date(text + "T00:00:00Z");
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

function isIpv4(text: string): boolean {
  const parts = text.split(".");
  return parts.length === 4 && parts.every((p) => /^(0|[1-9]\d{0,2})$/.test(p) && Number(p) <= 255);
}

function isIpv6(text: string): boolean {
  if (!text.includes(":")) return false;
  let rest = text;
  const last = rest.slice(rest.lastIndexOf(":") + 1);
  if (last.includes(".")) {
    if (!isIpv4(last)) return false;
    rest = rest.slice(0, rest.lastIndexOf(":") + 1) + "0:0";
  }
  const halves = rest.split("::");
  if (halves.length > 2) return false;
  const groups = halves.flatMap((h) => h === "" ? [] : h.split(":"));
  return groups.every((g) => /^[0-9a-fA-F]{1,4}$/.test(g)) &&
    (halves.length === 2 ? groups.length < 8 : groups.length === 8);
}

/** True when `text` is of that format, or the format is unknown. */
export function matchesFormat(format: string, text: string): boolean {
  const check = Object.hasOwn(CHECKS, format) ? CHECKS[format] : undefined;
  return check ? check(text) : true;
}
