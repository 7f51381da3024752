import type { RunEvent } from '../contract/events.ts'

type Observer = (event: RunEvent) => void

/** Adds an observer, even if it is already registered, and returns a function that removes it. */
export function addObserver(observers: Set<Observer>, listener: Observer): () => void {
  const own: Observer = (event) => listener(event)
  observers.add(own)
  return () => observers.delete(own)
}

/**
 * Notifies the observers and the caller, which may be the parent run. Their errors are discarded.
 */
export function tellAll(
  event: RunEvent,
  caller: Observer | undefined,
  observers: Iterable<Observer> = [],
): void {
  for (const observer of [...observers, caller]) {
    try {
      observer?.(event)
    } catch {}
  }
}
