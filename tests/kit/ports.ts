/** Ports for tests. @module */

/** A TCP port of loopback that is free now. */
export function freePort(): Promise<number> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  return Promise.resolve(port);
}
