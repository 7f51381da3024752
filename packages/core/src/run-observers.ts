import type { RunEvent } from './run-events.ts'

type Observer = (event: RunEvent) => void

/** Adds one, also if it is there already, and returns what takes it out again. */
export function addObserver(observers: Set<Observer>, listener: Observer): () => void {
  const own: Observer = (event) => listener(event)
  observers.add(own)
  return () => observers.delete(own)
}

/** Tells the caller and the observers. They cannot break what they observe. */
export function tellAll(
  event: RunEvent,
  caller: Observer | undefined,
  observers: Iterable<Observer> = [],
): void {
  for (const observer of [caller, ...observers]) {
    try {
      observer?.(event)
    } catch {}
  }
}
