import type { RunEvent } from './run-events.ts'

type Observer = (event: RunEvent) => void

/** Adds one, also if it is there already, and returns what takes it out again. */
export function addObserver(observers: Set<Observer>, listener: Observer): () => void {
  const own: Observer = (event) => listener(event)
  observers.add(own)
  return () => observers.delete(own)
}

/**
 * Tells the observers and the caller, which may be the run that this one is part of. They cannot break
 * what they observe.
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
