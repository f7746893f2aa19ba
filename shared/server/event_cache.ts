/** What is made of one storage event is made once for all watchers of a server. @module */
import type { JsonObject } from "../json/mod.ts";
import type { ServedKind, ServedVersion } from "./registry.ts";
import type { StorageEvent } from "./storage/contract.ts";
import { parsed, spliced } from "./stored.ts";

/** Lazily made forms of one event. */
export class SharedEvent {
  #texts = new Map<string, string>();
  #current: JsonObject | undefined;
  #previous: JsonObject | undefined;
  constructor(readonly event: StorageEvent) {}

  /** The object after (or, `previous`, before) the event, parsed. Shared: never change it. */
  object(kind: ServedKind, previous: boolean): JsonObject {
    const { event } = this;
    if (previous) return this.#previous ??= parsed(kind, kind.storage, event.previous!, event.revision);
    return this.#current ??= parsed(kind, kind.storage, event.value, event.revision);
  }

  /** The JSON text in one form, made by `make` at first use. */
  text(form: string, make: () => string): string {
    let text = this.#texts.get(form);
    if (text === undefined) this.#texts.set(form, text = make());
    return text;
  }

  /** The object's JSON at a version, with the event's revision as its resourceVersion. */
  json(kind: ServedKind, version: ServedVersion, previous: boolean): string {
    return this.text(`${version.apiVersion} ${previous}`, () => {
      const text = previous ? this.event.previous! : this.event.value;
      return spliced(kind, version, text, this.event.revision);
    });
  }
}

/** The last events by revision; each write has a revision of its own. */
export class EventCache {
  #events = new Map<number, SharedEvent>();
  constructor(private readonly capacity = 256) {}

  /** The shared form of an event. */
  of(event: StorageEvent): SharedEvent {
    const known = this.#events.get(event.revision);
    if (known && known.event.key === event.key) return known;
    const shared = new SharedEvent(event);
    this.#events.set(event.revision, shared);
    if (this.#events.size > this.capacity) this.#events.delete(this.#events.keys().next().value!);
    return shared;
  }
}
