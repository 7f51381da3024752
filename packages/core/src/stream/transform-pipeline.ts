import { isThenable } from '../base/promises.ts'
import type { TransformController, UpdateTransformer } from './update-transformer.ts'

/** Fields of an update that a pass reads. */
export interface StreamUpdate {
  readonly contents: readonly unknown[]
  /**
   * The provider's own form of the contents, undefined once a transform has replaced the update.
   */
  readonly raw?: unknown
  readonly restart?: true | undefined
}

/** Receives the updates that leave a pass. */
export interface UpdateFold<Update> {
  add(update: Update): void
  /** A model call begins: a restart goes back to here. */
  mark?(): void
}

/**
 * The way of one call's updates through the transforms of its middleware, innermost first, into the
 * fold and on to the next level out. It runs once per chunk, so the common case (every transform is
 * synchronous and passes one update on) is one loop without an allocation.
 */
export class TransformPipeline<Update extends StreamUpdate> {
  /** True once content has left this pass. */
  released = false
  /** True if a transform replaced, dropped or added an update. */
  changed = false
  /** True if a transform ended the call's updates. */
  terminated = false
  /** First update of the pass, if earlier updates of the call must be discarded. */
  restart: Update | undefined
  started = false
  /** How many updates had reached the consumer when this pass began. */
  deliveredBefore = 0
  readonly next: TransformPipeline<Update> | undefined
  readonly #stages: readonly Stage<Update>[]
  readonly #fold: UpdateFold<Update> | undefined
  #controller = new Controller<Update>()
  #flushFrom = 0
  /** Counts what `drop` has dropped. */
  #drops = 0
  /** Stage at which `quick` stopped, with its update and promise. */
  #stalledAt = -1
  #stalledWith: Update | undefined
  #stalledFor: unknown
  /** True if content has left this pass since the current inner call began. */
  #releasedOfCall = false

  /** `transformers` come innermost first. */
  constructor(
    transformers: readonly UpdateTransformer<Update>[],
    fold?: UpdateFold<Update>,
    next?: TransformPipeline<Update>,
  ) {
    this.#stages = transformers.map(toStage)
    this.#fold = fold
    this.next = next
  }

  /**
   * Begins the pass: the levels further out first, then what this call had released before is made
   * void, then every transformer's `start`, outermost first, since each may already enqueue.
   */
  start(out: Update[]): void | Promise<void> {
    if (this.started) return undefined
    this.started = true
    const waiting = this.next?.start(out)
    return waiting === undefined ? this.#announce(out) : waiting.then(() => this.#announce(out))
  }

  #announce(out: Update[]): void | Promise<void> {
    const { restart, next } = this
    let waiting: void | Promise<void> = undefined
    if (restart === undefined) next?.mark()
    else if (next === undefined) out.push(restart)
    else waiting = next.supersede(restart, out)
    const last = this.#stages.length - 1
    return waiting === undefined
      ? this.#startFrom(last, out)
      : waiting.then(() => this.#startFrom(last, out))
  }

  /**
   * Passes a restart from further inside to the transforms; it continues even if one of them drops
   * it.
   */
  supersede(restart: Update, out: Update[]): void | Promise<void> {
    const from = out.length
    const check = (): void => {
      if (!this.#releasedOfCall) return
      if (!out.slice(from).some((update) => update.restart === true)) {
        this.#fold?.add(restart)
        out.push(restart)
      }
      this.#releasedOfCall = false
    }
    const waiting = this.pass(restart, out)
    return waiting === undefined ? check() : waiting.then(check)
  }

  #startFrom(index: number, out: Update[]): void | Promise<void> {
    for (let at = index; at >= 0; at--) {
      const stage = this.#stages[at]!
      if (stage.start === undefined) continue
      const waiting = this.#collect(stage.start(this.#ready()), at, undefined, out)
      if (waiting !== undefined) return waiting.then(() => this.#startFrom(at - 1, out))
    }
    return undefined
  }

  /** Takes one update through all transforms. What leaves the outermost level lands in `out`. */
  pass(update: Update, out: Update[]): void | Promise<void> {
    return this.terminated ? undefined : this.#passFrom(update, 0, out)
  }

  /**
   * The common case of `pass`: what comes out of the outermost level if that is one update and
   * nothing has to be waited for. Otherwise it returns undefined, and `finish` continues from
   * there.
   */
  quick(update: Update, from = 0): Update | undefined {
    const stages = this.#stages
    const controller = this.#controller
    let current = update
    for (let at = from; at < stages.length; at++) {
      controller.count = 0
      const waiting = stages[at]!.transform(current, controller)
      if (waiting !== undefined || controller.count !== 1) {
        this.#stalledAt = at
        this.#stalledWith = current
        this.#stalledFor = waiting
        return undefined
      }
      const passed = controller.first!
      if (passed !== current) {
        this.changed = true
        current = passed.raw === undefined ? passed : withoutRaw(passed)
      }
    }
    this.#fold?.add(current)
    if (current.contents.length > 0) this.released = this.#releasedOfCall = true
    const { next } = this
    return next === undefined ? current : next.terminated ? undefined : next.quick(current)
  }

  finish(out: Update[]): void | Promise<void> {
    const at = this.#stalledAt
    const { next } = this
    if (at >= 0) {
      this.#stalledAt = -1
      return this.#collect(this.#stalledFor, at, this.#stalledWith, out)
    }
    const waiting = next!.terminated ? undefined : next!.finish(out)
    const check = (): void => {
      if (next!.terminated) this.#end(this.#stages.length)
    }
    return waiting === undefined ? check() : waiting.then(check)
  }

  /** Runs every transformer's `flush`, innermost first. */
  flush(out: Update[]): void | Promise<void> {
    while (this.#flushFrom < this.#stages.length) {
      const at = this.#flushFrom++
      const stage = this.#stages[at]!
      if (stage.flush === undefined) continue
      const waiting = this.#collect(stage.flush(this.#ready()), at, undefined, out)
      if (waiting !== undefined) return waiting.then(() => this.flush(out))
    }
    return undefined
  }

  /** A model call begins: what it releases may be made void by itself. */
  mark(): void {
    this.#fold?.mark?.()
    this.#releasedOfCall = false
  }

  /** Closes the pipeline: further updates are ignored. */
  close(): void {
    this.#end(Infinity)
  }

  /** Ignores what transforms of this level, and further out, are still working on. */
  drop(): void {
    this.#drops++
    this.next?.drop()
  }

  /** Closes the stages before this one. */
  #end(stage: number): void {
    this.terminated = this.changed = true
    this.#flushFrom = stage
  }

  #ready(): Controller<Update> {
    this.#controller.count = 0
    return this.#controller
  }

  #passFrom(update: Update, from: number, out: Update[]): void | Promise<void> {
    const passed = this.quick(update, from)
    if (passed === undefined) return this.finish(out)
    out.push(passed)
    return undefined
  }

  /** All but the common case: none or several updates passed on, an end, or an async transform. */
  #collect(
    waiting: unknown,
    at: number,
    input: Update | undefined,
    out: Update[],
  ): void | Promise<void> {
    const controller = this.#controller
    if (!isThenable(waiting)) return this.#forward(controller, at, input, out)
    // It may enqueue until its promise settles, so this controller is its own from here on.
    this.#controller = new Controller<Update>()
    const drops = this.#drops
    return Promise.resolve(waiting).then(() =>
      drops === this.#drops ? this.#forward(controller, at, input, out) : dropped(),
    )
  }

  #forward(
    controller: Controller<Update>,
    at: number,
    input: Update | undefined,
    out: Update[],
  ): void | Promise<void> {
    const updates = controller.take()
    if (controller.ended) {
      controller.ended = false
      this.#end(at + 1)
    }
    if (updates.length === 1 ? updates[0] !== input : updates.length > 0 || input !== undefined) {
      this.changed = true
      for (let index = 0; index < updates.length; index++) {
        const update = updates[index]!
        if (update !== input && update.raw !== undefined) updates[index] = withoutRaw(update)
      }
    }
    return this.#passAll(updates, 0, at + 1, out)
  }

  #passAll(
    updates: readonly Update[],
    start: number,
    from: number,
    out: Update[],
  ): void | Promise<void> {
    for (let index = start; index < updates.length; index++) {
      if (this.terminated && from < this.#flushFrom) return undefined
      const waiting = this.#passFrom(updates[index]!, from, out)
      if (waiting !== undefined) {
        return waiting.then(() => this.#passAll(updates, index + 1, from, out))
      }
    }
    return undefined
  }
}

/** Nobody waits for it. */
const dropped = (): Promise<never> => new Promise(() => {})

function withoutRaw<Update extends StreamUpdate>(update: Update): Update {
  return { ...update, raw: undefined }
}

type Stage<Update> = UpdateTransformer<Update> &
  Required<Pick<UpdateTransformer<Update>, 'transform'>>

class Controller<Update> implements TransformController<Update> {
  count = 0
  first: Update | undefined
  rest: Update[] | undefined
  ended = false
  #given = 0

  enqueue(update: Update): void {
    if (this.count++ !== 0) this.#more(update)
    else if (this.first !== update) this.first = update
  }

  terminate(): void {
    if (!this.ended) this.#given = this.count
    this.ended = true
    // It is neither 0 nor 1 any more: nothing is taken in, and the fast loop is left.
    this.count = -1e6
  }

  take(): Update[] {
    const given = this.ended ? this.#given : this.count
    const updates = given === 0 ? [] : [this.first!, ...(this.rest ?? [])]
    this.rest = undefined
    return updates
  }

  #more(update: Update): void {
    if (!this.ended) (this.rest ??= []).push(update)
  }
}

function toStage<Update>(transformer: UpdateTransformer<Update>): Stage<Update> {
  if (transformer.transform !== undefined) return transformer as Stage<Update>
  return {
    start: (controller) => transformer.start?.(controller),
    transform: (update, controller) => controller.enqueue(update),
    flush: (controller) => transformer.flush?.(controller),
  }
}
