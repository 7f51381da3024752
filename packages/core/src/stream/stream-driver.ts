import { closeIterator, iteratorOf } from '../base/iterators.ts'
import { LamellaError } from '../base/lamella-error.ts'
import { Queue } from './queue.ts'
import type { StreamUpdate, TransformPipeline } from './transform-pipeline.ts'
import type { Failure, UpdateSink } from './update-sink.ts'

type Answer<Update> = (step: IteratorResult<Update> | Promise<IteratorResult<Update>>) => void

/** An update that no source made, with the transforms around whatever pushed it. */
interface Pushed<Update extends StreamUpdate> {
  readonly update: Update
  readonly outer: TransformPipeline<Update> | undefined
}

/** A source that runs through its transforms, and the promise that the middleware inside waits for. */
interface Drive<Update extends StreamUpdate> {
  readonly source: AsyncIterable<Update> | Iterable<Update>
  iterator: AsyncIterator<Update> | Iterator<Update> | undefined
  readonly transforms: TransformPipeline<Update>
  readonly onStep: (step: IteratorResult<Update>) => void
  readonly onFault: (error: unknown) => void
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Moves updates from the running source to the consumer that pulls. There is no generator and no queue
 * in between: a pull asks the source's iterator, runs the transforms and delivers. When the source ends
 * or fails, its drive settles and the middleware continues, while the consumer's pull waits for what
 * comes next: another source, or the end.
 *
 * A drive that is broken off releases the pull at once, even if its source never answers. Whatever a
 * broken-off drive produces later is ignored.
 */
export class StreamDriver<Update extends StreamUpdate> implements UpdateSink<Update> {
  readonly streaming = true
  delivered = 0
  outer: TransformPipeline<Update> | undefined
  readonly #work: () => Promise<void>
  /** Runs once when the work is over, before the consumer learns of it. */
  onEnd: (failure: Failure | undefined) => Promise<void> = async () => {}
  #out = new Queue<Update>()
  readonly #inbox = new Queue<Pushed<Update>>()
  #drive: Drive<Update> | undefined
  #begun: Promise<void> | undefined
  /** Answers the pull at hand. */
  #answer: Answer<Update> | undefined
  /** The pull at hand waits for the source or a transform; otherwise for `#wake`. */
  #isBusy = false
  /** The drive that the pull at hand waits for, if it is busy with one. */
  #asked: Drive<Update> | undefined
  /** Incremented when the pull no longer waits for what it waited for, so that a late result is ignored. */
  #generation = 0
  /** Wait until the consumer has what was pushed. */
  #lagging: (() => void)[] = []
  #waiting: ((next: Promise<IteratorResult<Update>>) => void)[] | undefined
  #over: { readonly failure: Failure | undefined } | undefined
  #last: Promise<IteratorResult<Update>> | undefined
  /** A failure while no source was running: the next drive rejects with it. */
  #fault: Failure | undefined
  /** Every later drive rejects with this. */
  #cancelled: Failure | undefined

  /** `work` starts with the first pull. */
  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  drive(
    source: AsyncIterable<Update> | Iterable<Update>,
    transforms: TransformPipeline<Update>,
  ): Promise<void> {
    const broken = this.#cancelled ?? this.#fault ?? (this.#over && late())
    this.#fault = undefined
    if (broken !== undefined) return Promise.reject(broken.error)
    return new Promise((resolve, reject) => {
      const drive: Drive<Update> = {
        source,
        iterator: undefined,
        transforms,
        onStep: (step) => this.#onStep(drive, step),
        onFault: (error) => this.#onFault(drive, error),
        resolve,
        reject,
      }
      this.#drive = drive
      this.#wake()
    })
  }

  push(update: Update): void {
    this.#inbox.added.push({ update, outer: this.outer })
    this.#wake()
  }

  caughtUp(): Promise<void> | undefined {
    const isQueued = this.#inbox.some(() => true) || this.#out.some(() => true)
    return isQueued ? new Promise((done) => this.#lagging.push(done)) : undefined
  }

  get released(): boolean {
    return (
      this.delivered > 0 ||
      this.#out.some(hasContent) ||
      this.#inbox.some(({ update }) => hasContent(update))
    )
  }

  breakOff(error: unknown): void {
    const drive = this.#drive
    this.#close(error)
    if (drive === undefined || drive !== this.#asked) return
    drive.transforms.next?.drop()
    this.#release()
  }

  get busy(): boolean {
    return this.#answer !== undefined
  }

  next(): Promise<IteratorResult<Update>> {
    // A consumer that asks again before it was answered waits its turn.
    if (this.#answer !== undefined) {
      return new Promise((resolve) => (this.#waiting ??= []).push(resolve))
    }
    return new Promise(this.#pull)
  }

  /** Stops the running source; its drive rejects, so the middleware learns of it. Resolves when the work is over. */
  async cancel(reason: unknown): Promise<void> {
    if (this.#over === undefined) {
      this.#cancelled ??= { error: reason }
      this.#out = new Queue()
      this.#close(reason)
      this.#release()
    }
    await this.#begun
    await (this.#last ??= this.#finish()).catch(() => {})
  }

  #begin(): void {
    // It may be cancelled before its first await.
    let markSettled!: () => void
    this.#begun = new Promise((resolve) => (markSettled = resolve))
    void this.#work()
      .then(
        () => this.#settle(undefined),
        (error: unknown) => this.#settle({ error }),
      )
      .then(markSettled)
  }

  #settle(failure: Failure | undefined): void {
    this.#over = { failure: failure ?? this.#fault }
    this.#wake()
  }

  readonly #pull = (answer: Answer<Update>): void => {
    this.#answer = answer
    // The work may already ask for what this pull needs.
    if (this.#begun === undefined) this.#begin()
    this.#wake()
  }

  /** Answers the pull at hand, asks for what it needs, or waits to be woken. */
  #advance(): void {
    this.#isBusy = false
    this.#asked = undefined
    const ready = this.#out.take()
    if (ready !== undefined) {
      this.#deliver(ready)
      return
    }
    const pushed = this.#inbox.take()
    const drive = this.#drive
    if (pushed !== undefined) {
      this.#takeIn(pushed)
      return
    }
    for (const done of this.#lagging.splice(0)) done()
    if (drive !== undefined) this.#ask(drive)
    else if (this.#over !== undefined) this.#conclude((this.#last ??= this.#finish()))
  }

  #ask(drive: Drive<Update>): void {
    this.#isBusy = true
    this.#asked = drive
    try {
      if (drive.iterator === undefined) {
        this.#start(drive)
        return
      }
      const step = drive.iterator.next()
      void Promise.resolve(step).then(drive.onStep, drive.onFault)
    } catch (error) {
      this.#onFault(drive, error)
    }
  }

  /** Starts the source. Updates queued before have been delivered by now. */
  #start(drive: Drive<Update>): void {
    drive.iterator = iteratorOf(drive.source)
    drive.transforms.deliveredBefore = this.delivered
    this.#after(drive, drive.transforms.start(this.#out.added), () => this.#continue(drive))
  }

  /** Continues with the source, unless a transform has ended it. */
  #continue(drive: Drive<Update>): void {
    if (drive.transforms.terminated && drive === this.#drive) {
      closeIterator(drive.iterator)
      this.#sourceEnded(drive)
    } else this.#advance()
  }

  /** Proceeds once a transform is done. */
  #after(
    drive: Drive<Update> | undefined,
    waiting: void | Promise<void>,
    proceed = (): void => this.#advance(),
  ): void {
    if (waiting === undefined) {
      proceed()
      return
    }
    this.#isBusy = true
    const generation = ++this.#generation
    waiting
      .then(() => {
        if (generation === this.#generation) proceed()
      })
      .catch((error: unknown) => this.#onFault(drive, error))
  }

  #onStep(drive: Drive<Update>, step: IteratorResult<Update>): void {
    if (drive !== this.#drive) return
    const { transforms } = drive
    try {
      if (step.done === true) {
        this.#sourceEnded(drive)
        return
      }
      const passed = transforms.quick(step.value)
      // A transform may have cancelled the run.
      if (drive !== this.#drive) return
      if (passed !== undefined) {
        this.#deliver(passed)
        return
      }
      this.#after(drive, transforms.finish(this.#out.added), () => this.#continue(drive))
    } catch (error) {
      this.#onFault(drive, error)
    }
  }

  #sourceEnded(drive: Drive<Update>): void {
    const done = (): void => {
      this.#drive = undefined
      drive.resolve()
      this.#advance()
    }
    this.#after(drive, drive.transforms.flush(this.#out.added), done)
  }

  /** The drive at hand rejects; without one, the next drive does. */
  #onFault(drive: Drive<Update> | undefined, error: unknown): void {
    if (drive !== undefined && drive !== this.#drive) return
    if (this.#drive === undefined) this.#fault ??= { error }
    else this.#close(error)
    this.#advance()
  }

  #takeIn(pushed: Pushed<Update>): void {
    try {
      this.#after(undefined, this.#passOuter(pushed))
    } catch (error) {
      this.#onFault(undefined, error)
    }
  }

  #passOuter({ update, outer }: Pushed<Update>): void | Promise<void> {
    const out = this.#out.added
    const broken = this.#cancelled ?? this.#fault ?? this.#over?.failure
    // After a failure events still reach the caller; content does not.
    const isClosed = broken !== undefined || outer?.terminated === true
    if (isClosed || outer === undefined) {
      if (!isClosed || !hasContent(update)) out.push(update)
      return undefined
    }
    const pass = (): void | Promise<void> =>
      update.restart === true ? outer.supersede(update, out) : outer.pass(update, out)
    const waiting = outer.start(out)
    return waiting === undefined ? pass() : waiting.then(pass)
  }

  #deliver(update: Update): void {
    if (update.contents.length > 0) this.delivered++
    this.#conclude({ done: false, value: update })
  }

  #conclude(step: IteratorResult<Update> | Promise<IteratorResult<Update>>): void {
    const answer = this.#answer
    this.#answer = undefined
    this.#isBusy = false
    answer?.(step)
    const next = this.#waiting?.shift()
    if (next !== undefined) next(this.next())
  }

  /** Closes the running source, if there is one: its drive rejects. */
  #close(error: unknown): void {
    const drive = this.#drive
    if (drive === undefined) return
    this.#drive = undefined
    drive.transforms.close()
    closeIterator(drive.iterator)
    drive.reject(error)
  }

  /** The pull at hand stops waiting for a source or a transform. */
  #release(): void {
    this.#generation++
    if (this.#answer !== undefined) this.#advance()
  }

  #wake(): void {
    if (this.#answer !== undefined && !this.#isBusy) this.#advance()
  }

  async #finish(): Promise<IteratorResult<Update>> {
    const failure = this.#cancelled ?? this.#over?.failure
    await this.onEnd(failure)
    if (failure !== undefined) throw failure.error
    return { done: true, value: undefined }
  }
}

/** The failure of a drive that begins when the work is over, since somebody has not waited for it. */
function late(): Failure {
  return { error: new LamellaError('the stream has ended', { code: 'aborted' }) }
}

function hasContent({ contents }: StreamUpdate): boolean {
  return contents.length > 0
}
