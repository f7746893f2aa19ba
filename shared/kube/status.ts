/** `Status`, the answer of an API server to a request that failed (API conventions, "Response Status Kind"). @module */

/** One cause in `details.causes`. */
export interface StatusCause {
  reason?: string;
  message?: string;
  field?: string;
}

/** The wire form, kind `Status`. */
export interface ApiStatus {
  kind: "Status";
  apiVersion: "v1";
  metadata: { resourceVersion?: string; continue?: string };
  status: "Failure" | "Success";
  message?: string;
  reason?: string;
  details?: {
    name?: string;
    group?: string;
    kind?: string;
    uid?: string;
    causes?: StatusCause[];
    retryAfterSeconds?: number;
  };
  code: number;
}

/** A failed API request, on the server before it is sent and on the client after it came. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  constructor(readonly status: ApiStatus, options?: ErrorOptions) {
    super(status.message ?? status.reason ?? `HTTP ${status.code}`, options);
  }
  /** HTTP status code. */
  get code(): number {
    return this.status.code;
  }
  /** Machine-readable reason such as `NotFound`, `Conflict`, `Invalid`; "" when the server gave none. */
  get reason(): string {
    return this.status.reason ?? "";
  }
}

/** Makes a Failure with the given code, reason, message and details. */
export function failure(code: number, reason: string, message: string, details?: ApiStatus["details"]): StatusError {
  return new StatusError({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    ...(reason ? { reason } : {}),
    ...(details ? { details } : {}),
    code,
  });
}

/** True when the error is a StatusError of that reason, e.g. `hasReason(e, "NotFound")`. */
export function hasReason(error: unknown, reason: string): error is StatusError {
  return error instanceof StatusError && error.reason === reason;
}
