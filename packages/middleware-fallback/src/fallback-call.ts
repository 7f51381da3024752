import type { ChatContext, ChatResponse, RunContext, StateCell } from '@lamella/core'
import { isProviderError, ProviderError } from '@lamella/core'
import type { Clock } from '@lamella/core/authoring'
import {
  attemptOf,
  callWithin,
  failureReason,
  holdPreamble,
  isControlFlow,
  unlessAborted,
} from '@lamella/core/authoring'
import type { OwnCall } from './enter-client.ts'
import { enterClient } from './enter-client.ts'
import type { FallbackEntry, FallbackFailure } from './fallback-entry.ts'
import type { FallbackEvent, FallbackStop } from './fallback-event.ts'
import { StreamedAnswer } from './streamed-answer.ts'

/** Checked options of a fallback middleware, with their defaults. */
export interface FallbackSettings {
  readonly name: string
  readonly isShadow: boolean
  /** Clients after the call's own one, which is number 0. */
  readonly entries: readonly FallbackEntry[]
  /** True if the content of a streamed answer matters so far. */
  readonly watchesAnswer: boolean
  readonly qualifies: (failure: FallbackFailure) => Promise<boolean>
  readonly timeoutMs: number | undefined
  readonly sticky: StateCell<number> | undefined
  readonly midStream: 'error' | 'restart' | 'continue'
  readonly continuePrompt: string
  readonly replay: 'safe-only' | 'any'
  readonly clock: Clock | undefined
  readonly report: (run: RunContext, event: FallbackEvent) => void
}

/** One model call, made by one client after the other. */
export class FallbackCall {
  readonly #settings: FallbackSettings
  readonly #context: ChatContext
  readonly #own: OwnCall
  readonly #answer: StreamedAnswer

  constructor(settings: FallbackSettings, context: ChatContext) {
    this.#settings = settings
    this.#context = context
    this.#answer = new StreamedAnswer(context.run.ids)
    const { client, messages, options } = context
    this.#own = { client, messages, options }
    if (!context.stream || settings.isShadow) return
    if (settings.watchesAnswer) context.transformUpdates(this.#answer)
    context.transformUpdates(holdPreamble())
  }

  async run(callNext: () => Promise<ChatResponse>): Promise<void> {
    const { entries, isShadow } = this.#settings
    const context = this.#context
    let failure: FallbackFailure | undefined
    for (const index of this.#order()) {
      const entry = entries[index - 1]
      if (failure !== undefined) {
        if (!(await this.#isWanted(entry, failure))) continue
        this.#reportSwitch(failure, entry)
        if (isShadow) throw failure.error
      }
      await this.#enter(entry, failure)
      const known = context.run.attempts.length
      try {
        const response = await this.#call(callNext, entry)
        const isNew = context.run.attempts.length === known
        this.#served(index, response, { hasSwitched: failure !== undefined, isNew })
        return
      } catch (error) {
        if (isControlFlow(error, context.signal)) throw error
        // An inner retry middleware has recorded its tries.
        if (!isShadow && context.run.attempts.length === known)
          context.run.recordAttempt(attemptOf(context, { error }))
        failure = { attempt: (failure?.attempt ?? 0) + 1, error, context }
      }
      const obstacle = await this.#obstacle(failure)
      if (obstacle !== undefined) return this.#giveUp(failure, obstacle)
      if (context.released && this.#settings.midStream === 'continue') this.#answer.breakOff()
    }
    if (failure !== undefined) this.#giveUp(failure, 'no_client_left')
  }

  /** Returns the order of clients: the one that served last in this run comes first. */
  #order(): readonly number[] {
    const { entries, sticky, isShadow } = this.#settings
    const all = [0, ...entries.map((_, at) => at + 1)]
    const last = sticky === undefined || isShadow ? 0 : this.#context.run.state.get(sticky)
    return last === 0 || !all.includes(last) ? all : [last, ...all.filter((at) => at !== last)]
  }

  async #isWanted(entry: FallbackEntry | undefined, failure: FallbackFailure): Promise<boolean> {
    const { signal } = this.#context
    return (await unlessAborted(signal, (async () => entry?.when?.(failure))())) !== false
  }

  /** Switches the call to a client and its options. `undefined` is the call's own client. */
  async #enter(
    entry: FallbackEntry | undefined,
    failure: FallbackFailure | undefined,
  ): Promise<void> {
    const context = this.#context
    const own = this.#own
    let { messages } = own
    if (entry?.messages !== undefined) {
      const given = (async () => entry.messages?.(messages, failure))()
      messages = (await unlessAborted(context.signal, given)) ?? messages
    }
    const chosen = entry ?? { client: own.client, model: own.options.model }
    enterClient(context, own, chosen, messages)
    if (this.#answer.isContinued)
      context.messages = this.#answer.messages(context.messages, this.#settings.continuePrompt)
  }

  #call(
    callNext: () => Promise<ChatResponse>,
    entry: FallbackEntry | undefined,
  ): Promise<ChatResponse> {
    const { name, isShadow, timeoutMs: usual } = this.#settings
    const { clock = this.#context.run.clock } = this.#settings
    const timeoutMs = entry?.timeoutMs ?? usual
    if (timeoutMs === undefined || isShadow) return callNext()
    const { provider, name: client = provider } = this.#context.client
    const late = async (over: AbortSignal): Promise<ProviderError> => {
      await clock.sleep(timeoutMs, over, true)
      // A started answer has no time limit.
      if (this.#answer.hasContent) await new Promise(() => {})
      const words = `${name}: ${client} did not answer within ${timeoutMs} ms`
      return new ProviderError(words, { kind: 'timeout', provider, details: { timeoutMs } })
    }
    return callWithin(this.#context, callNext, { clock, late })
  }

  async #obstacle(failure: FallbackFailure): Promise<FallbackStop | undefined> {
    const { qualifies, midStream, replay } = this.#settings
    const { error, context } = failure
    if (!(await unlessAborted(context.signal, qualifies(failure)))) return 'not_qualified'
    if (context.released && midStream === 'error') return 'content_released'
    const isUnsafe = isProviderError(error) && error.retry.replay === 'unsafe'
    return isUnsafe && replay !== 'any' ? 'unsafe_replay' : undefined
  }

  #served(
    index: number,
    response: ChatResponse,
    { hasSwitched, isNew }: { readonly hasSwitched: boolean; readonly isNew: boolean },
  ): void {
    const { sticky, isShadow } = this.#settings
    const context = this.#context
    const { run } = context
    if (isShadow) return
    const served = servedBy(context)
    if (sticky !== undefined && run.state.get(sticky) !== index)
      run.state.update(sticky, () => index)
    if (hasSwitched && isNew)
      run.recordAttempt(attemptOf(context, { status: 'ok', usage: response.usage }))
    if (hasSwitched) this.#settings.report(run, { status: 'served', ...served })
    if (index === 0 && !hasSwitched) return
    const continued = this.#answer.isContinued ? { continued: true } : undefined
    const metadata = { ...response.metadata, servedBy: served, ...continued }
    context.result = { ...response, metadata }
  }

  #reportSwitch({ error }: FallbackFailure, entry: FallbackEntry | undefined): void {
    const { isShadow, report } = this.#settings
    const { client, messages, options } = this.#own
    const next = entry?.client ?? client
    const losses = next === client ? [] : (next.canContinue?.(messages).losses ?? [])
    const model = entry?.model ?? (next === client ? options.model : undefined)
    report(this.#context.run, {
      status: 'switching',
      ...servedBy({ client: next, options: { model } }),
      reason: failureReason(error),
      ...(losses.length > 0 && { losses }),
      ...(isShadow && { shadow: true }),
    })
  }

  #giveUp({ error, context }: FallbackFailure, because: FallbackStop): never {
    const { isShadow, report } = this.#settings
    report(context.run, {
      status: 'gave_up',
      ...servedBy(context),
      reason: failureReason(error),
      because,
      ...(isShadow && { shadow: true }),
    })
    throw error
  }
}

function servedBy(
  call: Parameters<typeof attemptOf>[0],
): Pick<FallbackEvent, 'provider' | 'client' | 'model'> {
  const { provider = '', client, model } = attemptOf(call, { status: 'ok' })
  return {
    provider,
    ...(client !== undefined && { client }),
    ...(model !== undefined && { model }),
  }
}
