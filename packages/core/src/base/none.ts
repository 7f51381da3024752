/** An empty list that nobody can fill: the same everywhere, so that it costs nothing and is equal to itself. */
export const none: readonly never[] = Object.freeze([])
