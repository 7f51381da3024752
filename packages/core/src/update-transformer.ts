/** Passes updates on. */
export interface TransformController<Update> {
  /** Hands an update to the next layer out. */
  enqueue(update: Update): void
  /** Ends the call's updates here: what is still to come from inside is cancelled, not awaited. */
  terminate(): void
}

/**
 * What a layer does to updates as they pass; the shape of a Web Streams `Transformer`. Each method
 * may be async. `start` runs before the first update of a pass, and again when the call starts anew
 * (a retry, another result): a transformer with state resets it there.
 */
export interface UpdateTransformer<Update> {
  start?(controller: TransformController<Update>): void | Promise<void>
  transform?(update: Update, controller: TransformController<Update>): void | Promise<void>
  flush?(controller: TransformController<Update>): void | Promise<void>
}
