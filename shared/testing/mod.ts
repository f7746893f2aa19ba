/** Helpers of tests. @module */
export { type CapturedLine, captureLogger } from "./capture_logger.ts";
export { eventually, type EventuallyOptions } from "./eventually.ts";
