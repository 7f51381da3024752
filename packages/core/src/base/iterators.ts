export function iteratorOf<Update>(
  source: AsyncIterable<Update> | Iterable<Update>,
): AsyncIterator<Update> | Iterator<Update> {
  return Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
}

/** Closes a source. Errors that it throws while closing are discarded. */
export function closeIterator(
  iterator: AsyncIterator<unknown> | Iterator<unknown> | undefined,
): void {
  try {
    Promise.resolve(iterator?.return?.()).catch(() => {})
  } catch {
    // A closing source has nothing to say.
  }
}
