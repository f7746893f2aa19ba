/** From HTTP answers to objects and errors. @module */
import { isObject, type JsonObject, parseJson } from "../json/mod.ts";
import { TransportError, type TransportResponse } from "./contract.ts";
import { type ApiStatus, StatusError } from "./status.ts";

/** Longest piece of a foreign answer that is quoted in an error. */
const QUOTE_MAX = 200;

const REASONS: Record<number, string> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  405: "MethodNotAllowed",
  406: "NotAcceptable",
  409: "Conflict",
  410: "Gone",
  413: "RequestEntityTooLarge",
  415: "UnsupportedMediaType",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

/** True for JSON of kind Status. */
export function isStatus(value: unknown): value is JsonObject {
  return isObject(value) && value.kind === "Status" && value.apiVersion === "v1";
}

/** The StatusError of a Status object as it came over the wire. */
export function statusErrorOf(status: JsonObject, httpCode?: number): StatusError {
  const code = typeof status.code === "number" && status.code > 0 ? status.code : httpCode ?? 500;
  return new StatusError({ ...status, code } as unknown as ApiStatus);
}

/**
 * The StatusError of an answer with an HTTP error code. A body that is no Status (a proxy's page, a server's plain text)
 * becomes the cause `UnexpectedServerResponse`, as client-go has it, so that callers can tell the two apart.
 */
export function errorOfAnswer(code: number, text: string, what: string): StatusError {
  try {
    const body = parseJson(text);
    if (isStatus(body)) return statusErrorOf(body, code);
  } catch {
    // Not JSON: told below.
  }
  const quote = text.trim().slice(0, QUOTE_MAX);
  return new StatusError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: `Cannot ${what}: the server answered ${code} without a Status`,
    reason: REASONS[code] ?? (code >= 500 ? "InternalError" : "Unknown"),
    details: { causes: [{ reason: "UnexpectedServerResponse", message: quote }] },
    code,
  });
}

/**
 * The JSON of a good answer.
 *
 * @throws StatusError for an HTTP error code; TransportError when a good answer is not JSON.
 */
export async function readAnswer(response: TransportResponse, what: string): Promise<unknown> {
  const text = await response.text();
  if (response.status < 200 || response.status > 299) throw errorOfAnswer(response.status, text, what);
  if (text === "") return undefined;
  try {
    return parseJson(text);
  } catch {
    throw new TransportError(`Cannot ${what}: the server answered ${response.status} with a body that is not JSON`);
  }
}
