/** Role `helmregistry`: the place of the HelmRegistry controller, which has nothing to do yet. @module */
import type { Role } from "../../../shared/runtime/role.ts";

/** Starts, says that there is nothing to do yet, and stays up. */
export const helmRegistryRole: Role = {
  name: "helmregistry",
  group: "controller-manager",
  async run({ logger, signal }) {
    logger.info("Role has nothing to do yet", { role: "helmregistry" });
    if (signal.aborted) return;
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
  },
};
