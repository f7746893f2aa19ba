/** Reading and writing YAML as kubectl does. @module */
export { YamlError } from "./error.ts";
export { parseDocuments, type ParseOptions, parseYaml, type YamlDocument } from "./parse.ts";
export { toYaml } from "./print.ts";
