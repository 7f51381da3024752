import { closeIterator, iteratorOf } from './source-iterator.ts'
import type { PassingUpdate, UpdatePassage } from './update-passage.ts'
import type { Failure, UpdateSink } from './update-sink.ts'

interface Drive<Update extends PassingUpdate> {
  readonly source: AsyncIterable<Update> | Iterable<Update>
  iterator: AsyncIterator<Update> | Iterator<Update> | undefined
  readonly passage: UpdatePassage<Update>
  readonly resolve: () => void
  readonly reject: (error: unknown) => void
}

/**
 * Moves updates from the source that is running to the consumer who pulls. There is no generator
 * and no queue in between: a pull asks the source's iterator, runs the passage and delivers. When
 * the source ends or fails, its drive settles and the layers go on, while the consumer's pull waits
 * for what they do next: another source, or the end.
 */
export class UpdatePump<Update extends PassingUpdate> implements UpdateSink<Update> {
  readonly streaming = true
  delivered = 0
  outer: UpdatePassage<Update> | undefined
  readonly #work: () => Promise<void>
  /** Runs once when all is over, before the consumer learns of it. */
  onEnd: (failure: Failure | undefined) => Promise<void> = async () => {}
  readonly #out: Update[] = []
  #head = 0
  readonly #inbox: {
    readonly update: Update
    readonly outer: UpdatePassage<Update> | undefined
  }[] = []
  #drive: Drive<Update> | undefined
  /** The one that the step on its way was asked of. */
  #asked: Drive<Update> | undefined
  /** The running source, once it has begun and if it answers with promises. */
  #live: AsyncIterator<Update> | undefined
  #begun: Promise<void> | undefined
  #pulling = false
  #parked: ((next: Promise<IteratorResult<Update>>) => void) | undefined
  #waiting: ((next: Promise<IteratorResult<Update>>) => void)[] | undefined
  #over: { readonly failure: Failure | undefined } | undefined
  #last: Promise<IteratorResult<Update>> | undefined
  /** Something broke while no source was running: the next drive learns of it. */
  #fault: Failure | undefined
  /** Every drive to come learns of this. */
  #cancelled: Failure | undefined

  /** `work` starts with the first pull. */
  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  drive(
    source: AsyncIterable<Update> | Iterable<Update>,
    passage: UpdatePassage<Update>,
  ): Promise<void> {
    const broken = this.#cancelled ?? this.#fault
    this.#fault = undefined
    if (broken !== undefined) return Promise.reject(broken.error)
    return new Promise((resolve, reject) => {
      this.#live = undefined
      this.#drive = { source, iterator: undefined, passage, resolve, reject }
      this.#wake()
    })
  }

  push(update: Update): void {
    this.#inbox.push({ update, outer: this.outer })
    this.#wake()
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
    if (drive === undefined) return
    this.#drive = this.#live = undefined
    drive.passage.close()
    closeIterator(drive.iterator)
    drive.reject(error)
  }

  get busy(): boolean {
    return this.#pulling
  }

  next(): Promise<IteratorResult<Update>> {
    const source = this.#live
    if (source === undefined || this.#pulling || this.#out.length > 0 || this.#inbox.length > 0) {
      return this.#nextSlowly()
    }
    this.#pulling = true
    try {
      return source.next().then(this.#onStep, this.#onStepFault)
    } catch (error) {
      return this.#onFault(error)
    }
  }

  #nextSlowly(): Promise<IteratorResult<Update>> {
    // A consumer that asks again before it was answered waits its turn.
    if (this.#pulling) return new Promise((resolve) => (this.#waiting ??= []).push(resolve))
    this.#pulling = true
    if (this.#begun === undefined) this.#begin()
    return this.#pull()
  }

  /** Stops the running source; the work learns of it by its drive rejecting. Resolves when all is over. */
  async cancel(reason: unknown): Promise<void> {
    if (this.#begun === undefined) {
      this.#begun = Promise.resolve()
      this.#over = { failure: { error: reason } }
    }
    if (this.#over === undefined) {
      this.#cancelled ??= { error: reason }
      this.#head = this.#out.length = 0
      this.breakOff(reason)
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
    this.#over = { failure: this.#cancelled ?? failure ?? this.#fault }
    this.breakOff(failure?.error)
    this.#wake()
  }

  readonly #pull = (): Promise<IteratorResult<Update>> => {
    if (this.#head < this.#out.length) return Promise.resolve({ done: false, value: this.#take() })
    if (this.#inbox.length > 0) return this.#pullInbox()
    const drive = this.#drive
    if (drive !== undefined) {
      try {
        if (drive.iterator === undefined) return this.#start(drive)
        this.#asked = drive
        const step = drive.iterator.next()
        return (step instanceof Promise ? step : Promise.resolve(step)).then(
          this.#onStep,
          this.#onStepFault,
        )
      } catch (error) {
        return this.#onFault(error)
      }
    }
    if (this.#over !== undefined) {
      this.#free()
      return (this.#last ??= this.#finish())
    }
    return new Promise((resolve) => {
      this.#parked = resolve
    })
  }

  /** Whatever was made before the source began has gone out by now. */
  #start(drive: Drive<Update>): Promise<IteratorResult<Update>> {
    this.#asked = drive
    drive.iterator = iteratorOf(drive.source)
    if (Symbol.asyncIterator in drive.source) this.#live = drive.iterator as AsyncIterator<Update>
    drive.passage.deliveredBefore = this.delivered
    const waiting = drive.passage.start(this.#out)
    return waiting === undefined ? this.#pull() : waiting.then(this.#pull, this.#onStepFault)
  }

  readonly #onStep = (
    step: IteratorResult<Update>,
  ): IteratorResult<Update> | Promise<IteratorResult<Update>> => {
    const drive = this.#drive
    // It may have been broken off, and another one begun, while this step was on its way.
    if (drive === undefined || drive !== this.#asked) return this.#pull()
    try {
      if (step.done === true) return this.#sourceEnded(drive)
      const { passage } = drive
      const passed = passage.terminated ? undefined : passage.quick(step.value)
      if (passed !== undefined) {
        if (passed.contents.length > 0) this.delivered++
        this.#pulling = false
        if (this.#waiting !== undefined) this.#free()
        step.value = passed
        return step
      }
      const waiting = passage.finish(this.#out)
      if (waiting !== undefined) return waiting.then(this.#afterPass, this.#onStepFault)
      if (drive.passage.terminated) return this.#afterPass()
    } catch (error) {
      return this.#onFault(error)
    }
    if (this.#head === this.#out.length) return this.#pull()
    step.value = this.#take()
    return step
  }

  readonly #afterPass = (): Promise<IteratorResult<Update>> => {
    const drive = this.#drive
    if (drive?.passage.terminated === true) {
      closeIterator(drive.iterator)
      return this.#sourceEnded(drive)
    }
    return this.#pull()
  }

  #sourceEnded(drive: Drive<Update>): Promise<IteratorResult<Update>> {
    const done = (): Promise<IteratorResult<Update>> => {
      if (this.#drive === drive) {
        this.#drive = this.#live = undefined
        drive.resolve()
      }
      return this.#pull()
    }
    try {
      const waiting = drive.passage.flush(this.#out)
      return waiting === undefined ? done() : waiting.then(done, this.#onStepFault)
    } catch (error) {
      return this.#onFault(error)
    }
  }

  readonly #onStepFault = (error: unknown): Promise<IteratorResult<Update>> =>
    this.#drive === this.#asked ? this.#onFault(error) : this.#pull()

  readonly #onFault = (error: unknown): Promise<IteratorResult<Update>> => {
    if (this.#drive === undefined) this.#fault ??= { error }
    else this.breakOff(error)
    return this.#pull()
  }

  #pullInbox(): Promise<IteratorResult<Update>> {
    const { update, outer } = this.#inbox.shift()!
    try {
      const waiting = this.#passOuter(update, outer)
      return waiting === undefined ? this.#pull() : waiting.then(this.#pull, this.#onFault)
    } catch (error) {
      return this.#onFault(error)
    }
  }

  #passOuter(update: Update, outer: UpdatePassage<Update> | undefined): void | Promise<void> {
    const broken = this.#cancelled ?? this.#fault ?? this.#over?.failure
    // After a failure events still reach the caller; content does not.
    const isClosed = broken !== undefined || outer?.terminated === true
    if (isClosed || outer === undefined) {
      if (!isClosed || !hasContent(update)) this.#out.push(update)
      return undefined
    }
    const pass = (): void | Promise<void> =>
      update.restart === true ? outer.supersede(update, this.#out) : outer.pass(update, this.#out)
    const waiting = outer.start(this.#out)
    return waiting === undefined ? pass() : waiting.then(pass)
  }

  #take(): Update {
    const update = this.#out[this.#head++]!
    if (this.#head === this.#out.length) this.#head = this.#out.length = 0
    if (update.contents.length > 0) this.delivered++
    this.#free()
    return update
  }

  #free(): void {
    this.#pulling = false
    const next = this.#waiting?.shift()
    if (next !== undefined) next(this.next())
  }

  #wake(): void {
    const parked = this.#parked
    if (parked === undefined) return
    this.#parked = undefined
    parked(this.#pull())
  }

  async #finish(): Promise<IteratorResult<Update>> {
    const failure = this.#over?.failure
    await this.onEnd(failure)
    if (failure !== undefined) throw failure.error
    return { done: true, value: undefined }
  }
}

function hasContent({ contents }: PassingUpdate): boolean {
  return contents.length > 0
}
