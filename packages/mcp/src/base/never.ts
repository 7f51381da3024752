/** A signal that does not abort. */
export const never: AbortSignal = new AbortController().signal
