/** Bodies that come as protobuf go on as JSON: nothing behind the front knows any other form. @module */
import { stringifyJson } from "../../json/mod.ts";
import { failure } from "../../kube/status.ts";
import { decodeProtobuf, ProtobufError } from "../protobuf/mod.ts";

const PROTOBUF = "application/vnd.kubernetes.protobuf";

/**
 * The body as JSON when it is protobuf, and then `headers` say so; otherwise undefined.
 *
 * @throws StatusError 400 when it cannot be decoded
 */
export function toJson(body: Uint8Array, headers: Record<string, string>): string | undefined {
  if (headers["content-type"]?.split(";")[0]?.trim().toLowerCase() !== PROTOBUF) return undefined;
  try {
    const text = stringifyJson(decodeProtobuf(body));
    headers["content-type"] = "application/json";
    return text;
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw failure(
      400,
      "BadRequest",
      `the body of the request is not a message of Kubernetes in protobuf: ${error.message}`,
    );
  }
}
