export function iteratorOf<Update>(
  source: AsyncIterable<Update> | Iterable<Update>,
): AsyncIterator<Update> | Iterator<Update> {
  return Symbol.asyncIterator in source ? source[Symbol.asyncIterator]() : source[Symbol.iterator]()
}

/** Tells a source that nobody reads on. What it throws while closing is of no interest any more. */
export function closeIterator(
  iterator: AsyncIterator<unknown> | Iterator<unknown> | undefined,
): void {
  try {
    Promise.resolve(iterator?.return?.()).catch(() => {})
  } catch {
    // A closing source has nothing to say.
  }
}
