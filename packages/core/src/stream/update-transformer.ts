/** Passes updates on. */
export interface TransformController<Update> {
  /** Hands an update to the next middleware out. */
  enqueue(update: Update): void
  /** Ends the call's updates here: the rest of the call is canceled, not awaited. */
  terminate(): void
}

/**
 * Transforms updates as they pass, in the shape of a Web Streams `Transformer`. Each method may be
 * async. `start` runs before the first update, and again when the call restarts (a retry, another
 * result): a transformer with state resets it there.
 */
export interface UpdateTransformer<Update> {
  /** Runs before the first update, and again after a restart. */
  start?(controller: TransformController<Update>): void | Promise<void>
  /** Handles one update. Without it, updates pass unchanged. */
  transform?(update: Update, controller: TransformController<Update>): void | Promise<void>
  /** Runs after the last update. */
  flush?(controller: TransformController<Update>): void | Promise<void>
}
