/** The server side of the artifact endpoint. @module */
import { Buffer } from "node:buffer";
import { timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { sha256 } from "./tree.ts";
import type { DiskArtifactStore } from "./store.ts";

const PATH = /^\/artifacts\/(sha256:[0-9a-f]{64})$/;

/** The path under which an artifact is served. */
export function artifactPath(digest: string): string {
  return `/artifacts/${digest}`;
}

/**
 * Answers `GET /artifacts/<digest>` with a tar.gz; the bearer token must be the access key. Resolves to false for other
 * paths, which are then the caller's to answer.
 */
export function artifactHandler(
  store: Pick<DiskArtifactStore, "archive">,
  accessKey: () => Promise<string | undefined>,
): (request: IncomingMessage, response: ServerResponse) => Promise<boolean> {
  return async (request, response) => {
    const path = (request.url ?? "").split("?")[0]!;
    if (!path.startsWith("/artifacts/")) return false;
    const answer = (code: number, text: string) => {
      response.writeHead(code, { "content-type": "text/plain" }).end(`${text}\n`);
      return true;
    };
    if (request.method !== "GET") return answer(405, "Only GET is allowed");
    const given = /^Bearer (\S+)$/.exec(request.headers.authorization ?? "")?.[1];
    const key = await accessKey().catch(() => undefined);
    if (!key || !given || !same(given, key)) return answer(401, "A bearer token is needed");
    const digest = PATH.exec(path)?.[1];
    const body = digest ? await store.archive(digest) : undefined;
    if (!body) return answer(404, "No such artifact");
    response.writeHead(200, { "content-type": "application/gzip" });
    await new Promise<void>((resolve) => {
      const stream = Readable.fromWeb(body as never);
      // A file that is gone or damaged ends the connection in the middle; the other side sees a broken archive.
      stream.on("error", () => response.destroy());
      response.on("close", () => {
        stream.destroy();
        resolve();
      });
      stream.pipe(response);
    });
    return true;
  };
}

function same(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(sha256(a)), Buffer.from(sha256(b)));
}
