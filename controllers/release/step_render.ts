/** From an artifact to the objects of a Release: a pure function of both, so its results are kept. @module */
import { LRUCache } from "lru-cache";
import type { Release } from "../../shared/api/mod.ts";
import { ArtifactError, type ArtifactStore } from "../../shared/artifact/mod.ts";
import { canonicalJson, stringifyJson } from "../../shared/json/mod.ts";
import type { Unstructured } from "../../shared/kube/mod.ts";
import {
  applyOrder,
  detectRenderType,
  isManifest,
  RenderError,
  renderManifests,
  renderRefOf,
} from "../../shared/render/mod.ts";
import type { Source } from "./step_source.ts";
import { Stop } from "./stop.ts";

const CACHE_BYTES = 32 * 2 ** 20;
const LOOK_AGAIN_MS = 30_000;

/** The objects of one revision. */
export interface Rendered {
  renderRef: string;
  revision: string;
  /** Digest of the artifact. */
  digest: string;
  /** In apply order; shared, never changed. */
  objects: readonly Unstructured[];
}

/** Names all that a render depends on. */
export function renderInputs(release: Release, source: Source): string {
  return canonicalJson([release.metadata.uid, source.artifact.digest, source.path, release.spec.render]);
}

/** Renders, and keeps what was rendered last up to 32 MiB. */
export class Renderer {
  readonly #cache = new LRUCache<string, Rendered>({ maxSize: CACHE_BYTES, max: 4096 });
  readonly #artifacts: ArtifactStore;

  constructor(artifacts: ArtifactStore) {
    this.#artifacts = artifacts;
  }

  /** @throws Stop with SourceFailed, RenderFailed or EmptyRender */
  async render(release: Release, source: Source): Promise<Rendered> {
    const inputs = renderInputs(release, source);
    const cached = this.#cache.get(inputs);
    if (cached) return { ...cached, revision: source.artifact.revision };
    const rendered = await renderFresh(this.#artifacts, release, source);
    this.#cache.set(inputs, rendered, { size: 1 + stringifyJson(rendered.objects).length });
    return rendered;
  }
}

async function renderFresh(artifacts: ArtifactStore, release: Release, source: Source): Promise<Rendered> {
  const files = await read(artifacts, source);
  const { targetNamespace, commonLabels, commonAnnotations } = release.spec.render;
  const type = release.spec.render.type === "Auto"
    ? detectRenderType(files.map((f) => f.path), source.path)
    : release.spec.render.type;
  if (type !== "Manifests") {
    throw new Stop(
      "RenderFailed",
      `${source.path} is for ${type}, which this version of Convoy cannot render: ` +
        `give a folder of plain manifests, or set spec.render.type: Manifests to take the files as they are`,
    );
  }
  try {
    const { objects } = await renderManifests(files.filter((f) => isManifest(f.path)), {
      ...(targetNamespace === undefined ? {} : { targetNamespace }),
      ...(commonLabels === undefined ? {} : { commonLabels }),
      ...(commonAnnotations === undefined ? {} : { commonAnnotations }),
    });
    if (objects.length === 0 && !release.spec.allowEmpty) {
      throw new Stop(
        "EmptyRender",
        `${source.path} of ${source.artifact.revision} has no objects; nothing is deleted. ` +
          `Mend spec.source.git.path, or set spec.allowEmpty: true when nothing is meant`,
      );
    }
    const { namespace = "", name } = release.metadata;
    // The name is a digest of what is stored: the same objects in the same order.
    const ordered = applyOrder(objects);
    return {
      renderRef: renderRefOf({ namespace, name }, ordered),
      revision: source.artifact.revision,
      digest: source.artifact.digest,
      objects: ordered,
    };
  } catch (error) {
    if (error instanceof RenderError) throw new Stop("RenderFailed", error.message);
    throw error;
  }
}

async function read(artifacts: ArtifactStore, source: Source) {
  try {
    return await artifacts.files(source.artifact, source.path);
  } catch (error) {
    if (!(error instanceof ArtifactError)) throw error;
    const again = error.problem === "FetchFailed" || error.problem === "NotFound";
    throw new Stop("SourceFailed", error.message, again ? { after: LOOK_AGAIN_MS } : { await: "change" });
  }
}
