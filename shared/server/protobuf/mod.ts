/** Protobuf bodies of Kubernetes clients. @module */
export { decodeProtobuf, ProtobufError } from "./decode.ts";
