/** Git over HTTP as real servers speak it: `git http-backend` behind a small HTTP server, with basic auth on demand. @module */
import { spawn } from "node:child_process";
import http from "node:http";
import type { AddressInfo } from "node:net";

/** A running server. */
export interface GitHttp {
  /** `http://127.0.0.1:PORT`; a repository is below it by the name of its folder. */
  url: string;
  /** Paths that were asked for, with query. */
  readonly requests: string[];
  close(): Promise<void>;
}

/** Serves the repositories in `root`. */
export async function startGitHttp(root: string, o: { user?: string; password?: string } = {}): Promise<GitHttp> {
  const requests: string[] = [];
  const wanted = o.user === undefined ? undefined : `Basic ${btoa(`${o.user}:${o.password ?? ""}`)}`;
  const server = http.createServer((request, response) => {
    requests.push(request.url ?? "");
    if (wanted !== undefined && request.headers.authorization !== wanted) {
      response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end("no\n");
      return;
    }
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://x");
    const backend = spawn("git", ["http-backend"], {
      env: {
        PATH: Deno.env.get("PATH") ?? "",
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: "1",
        PATH_INFO: decodeURIComponent(pathname),
        QUERY_STRING: searchParams.toString(),
        REQUEST_METHOD: request.method ?? "GET",
        CONTENT_TYPE: request.headers["content-type"] ?? "",
        HTTP_CONTENT_ENCODING: request.headers["content-encoding"] ?? "",
        GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
        REMOTE_USER: o.user ?? "",
        // The repositories belong to whoever runs the test; git would refuse another's.
        GIT_CONFIG_COUNT: "1",
        GIT_CONFIG_KEY_0: "safe.directory",
        GIT_CONFIG_VALUE_0: "*",
      },
      stdio: ["pipe", "pipe", "ignore"],
    });
    request.pipe(backend.stdin);
    backend.stdin.on("error", () => {});
    let head = new Uint8Array();
    let sent = false;
    backend.stdout.on("data", (chunk: Uint8Array) => {
      if (sent) return void response.write(chunk);
      head = new Uint8Array([...head, ...chunk]);
      const end = indexOfBlankLine(head);
      if (end < 0) return;
      sent = true;
      let status = 200;
      for (const line of new TextDecoder().decode(head.subarray(0, end)).split("\r\n")) {
        const [name, ...value] = line.split(": ");
        if (name!.toLowerCase() === "status") status = Number(value.join(": ").slice(0, 3));
        else if (name) response.setHeader(name, value.join(": "));
      }
      response.statusCode = status;
      response.write(head.subarray(end + 4));
    });
    backend.stdout.on("end", () => response.end());
    backend.on("error", () => response.writeHead(500).end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function indexOfBlankLine(bytes: Uint8Array): number {
  for (let i = 0; i + 3 < bytes.length; i++) {
    if (bytes[i] === 13 && bytes[i + 1] === 10 && bytes[i + 2] === 13 && bytes[i + 3] === 10) return i;
  }
  return -1;
}
