/** The API server's front: TLS, certificates, who asks. @module */
export {
  ANONYMOUS,
  anyOf,
  type Authentication,
  type Authenticator,
  certificateAuthenticator,
  type Credentials,
  type PeerCertificate,
} from "./authenticate.ts";
export { type Certificates, loadCertificates, makeCertificates } from "./certificates.ts";
export { ClientGone } from "./exchange.ts";
export { writeFileAtomic } from "./files.ts";
export type { KeyPair } from "./issue.ts";
export { type HttpsLimits, type HttpsOptions, type HttpsServer, isHealthOrVersion, serveHttps } from "./serve.ts";
export { parseTokens, tokenAuthenticator, type TokenEntry, tokenFile } from "./token_file.ts";
