/** Helpers of tests. @module */
export { type CapturedLine, captureLogger } from "./capture_logger.ts";
export { type CertAndKey, type TestAuthority, testAuthority } from "./certs.ts";
export { eventually, type EventuallyOptions } from "./eventually.ts";
export {
  type ListCall,
  type ScriptedClient,
  scriptedClient,
  someObject,
  type WatchCall,
  type WatchStream,
} from "./scripted_client.ts";
export { type TinyServer, tinyServer } from "./tiny_server.ts";
