/** The Kubernetes client: transports, REST client, kubeconfig, informers, discovery. @module */
export * from "./contract.ts";
export * from "./types.ts";
export * from "./status.ts";
export { createKubeClient, type KubeClientOptions } from "./client.ts";
export { inProcessTransport } from "./transport_inprocess.ts";
export { type Credential, type CredentialSource, httpTransport, type HttpTransportOptions } from "./transport_http.ts";
export type { ClientIdentity, TlsOptions } from "./http_pool.ts";
export { createInformer, type InformerOptions, type StartableInformer } from "./informer.ts";
export { createInformerFactory, type InformerFactoryOptions } from "./informer_factory.ts";
export { type ReflectorOptions, type ReflectorSink, runReflector } from "./reflector.ts";
export { deepFreeze, dropManagedFields } from "./freeze.ts";
export { isOlder } from "./resource_version.ts";
export { RateLimiter } from "./rate_limit.ts";
export {
  type ConnectOptions,
  type InClusterOptions,
  inClusterTransport,
  kubeconfigFileTransport,
  kubeconfigTransport,
} from "./connect.ts";
export { KubeconfigError, type KubeconfigOptions, parseKubeconfig } from "./kubeconfig.ts";
export { createRestMapper, DiscoveryError, type RestMapper, type RestMapperOptions } from "./discovery.ts";
