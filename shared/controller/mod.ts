/** The loop harness: queue, workers, events, leader election, conditions. @module */
export * from "./contract.ts";
export { WorkQueue, type WorkQueueOptions } from "./work_queue.ts";
export { type ControllerOptions, type Enqueue, type ReconcileContext, runController } from "./run_controller.ts";
export { shouldEnqueueOnUpdate, SYNC_ANNOTATION } from "./should_enqueue.ts";
export { createEventRecorder, type EventRecorderOptions, type StoppableRecorder } from "./event_recorder.ts";
export { type LeaderElectionOptions, LeadLostError, runLeaderElection } from "./leader_election.ts";
export { findCondition, setCondition } from "./set_condition.ts";
export { type CoreEvent, EVENTS, type Lease, LEASES } from "./resources.ts";
