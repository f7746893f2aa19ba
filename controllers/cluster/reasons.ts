/** Reasons of a Cluster's conditions. @module */
import type { TargetError } from "../../shared/target/contract.ts";

/** Reasons of `Reachable`. */
export type ReachableReason =
  | "Connected"
  | "Unreachable"
  | "KubeconfigInvalid"
  | "SecretNotFound"
  | "SecretKeyMissing"
  | "Suspended";

/** The reason for what a probe threw. */
export function reasonOf(error: TargetError): ReachableReason {
  if (error.problem) return error.problem;
  return error.reason === "Suspended" ? "Suspended" : "Unreachable";
}
