/** From the credentials of a request to a user. @module */
import type { UserInfo } from "../contract.ts";

/** A verified client certificate, as far as it says who the client is. */
export interface PeerCertificate {
  commonName: string;
  organizations: string[];
  /** ms since the epoch. */
  notAfter: number;
}

/** What a request brings. `certificate` is there only when it was verified against the client authorities. */
export interface Credentials {
  headers: Record<string, string>;
  certificate?: PeerCertificate;
  /** Path of the request, for servers where credentials are good for a part of it. */
  path?: string;
  /** The client showed a certificate that could not be verified. */
  badCertificate?: boolean;
}

/** A user, `undefined` when the request has no credential of this kind, or `"invalid"` when it is wrong. */
export type Authentication = UserInfo | "invalid" | undefined;

/** Says who asks. */
export interface Authenticator {
  authenticate(credentials: Credentials): Promise<Authentication>;
}

/** Who asks when nobody says so. */
export const ANONYMOUS: UserInfo = { name: "system:anonymous", groups: ["system:unauthenticated"] };

/** Adds the group that everyone with valid credentials has. */
export function authenticated(user: UserInfo): UserInfo {
  const group = "system:authenticated";
  return user.groups.includes(group) ? user : { ...user, groups: [...user.groups, group] };
}

/** Client certificates: CN is the user, O the groups. */
export function certificateAuthenticator(now: () => number): Authenticator {
  return {
    async authenticate({ certificate, badCertificate }) {
      if (badCertificate) return "invalid";
      if (!certificate) return undefined;
      // The handshake checked this too, but connections live long.
      if (certificate.notAfter <= now() || certificate.commonName === "") return "invalid";
      return { name: certificate.commonName, groups: [...certificate.organizations] };
    },
  };
}

/** Asks in turn: the first user wins; a wrong credential counts only when no other was right, as in kube-apiserver. */
export function anyOf(authenticators: readonly Authenticator[]): Authenticator {
  return {
    async authenticate(credentials) {
      let result: Authentication;
      for (const authenticator of authenticators) {
        const answer = await authenticator.authenticate(credentials);
        if (answer !== undefined && answer !== "invalid") return authenticated(answer);
        result ??= answer;
      }
      return result;
    },
  };
}

/** The token of an `Authorization: Bearer` header; undefined when there is none. */
export function bearerToken(headers: Record<string, string>): string | undefined {
  const match = /^bearer +(\S+) *$/i.exec(headers["authorization"] ?? "");
  return match?.[1];
}
