/** What the drift and the health loop have in common. @module */
export { isApplied, isRollingOut, stayingMembers } from "./applied.ts";
export { type LiveChange, type LiveHandler, LiveObjects, type Seen, type View } from "./live_objects.ts";
export { Memories } from "./memories.ts";
export { Poll } from "./poll.ts";
export { membershipChanged } from "./predicates.ts";
export { count, firstThree, objectText } from "./text.ts";
