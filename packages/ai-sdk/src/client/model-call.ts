import type { ChatRequest, ChatResponse, ChatResponseUpdate } from '@lamella/core'
import { unlessAborted } from '@lamella/core/authoring'
import type { WireObject } from '@lamella/transport'
import { conversationTexts, listOf, recordOf, StallTimer, TransportFault } from '@lamella/transport'
import type { CallableModel } from '../model/language-model.ts'
import type { ModelFailure } from './ai-sdk-error.ts'
import { toProviderError } from './ai-sdk-error.ts'
import { readModelStream } from './model-stream.ts'
import type { OmittedParts, UpdatesContext } from './model-updates.ts'
import { ModelUpdates } from './model-updates.ts'

/** One call as a model takes it, without its signal. */
export interface ModelCall {
  readonly options: WireObject
  readonly omitted: OmittedParts
}

/** How long a call may take, in milliseconds. `Infinity` waits for ever. */
export interface CallTimeouts {
  /** Of a plain call, as a whole. */
  readonly timeoutMs: number
  /** Of a stream, until its first update. */
  readonly firstUpdateTimeoutMs: number
  /** Of a stream, without any part while one is waited for. */
  readonly idleTimeoutMs: number
}

/** Limits of a call that others limit. */
export const unlimited: CallTimeouts = {
  timeoutMs: Infinity,
  firstUpdateTimeoutMs: Infinity,
  idleTimeoutMs: Infinity,
}

/** Makes a plain call. An abort rejects at once with the signal's reason. */
export async function callModel(
  model: CallableModel,
  request: ChatRequest,
  call: ModelCall,
  { timeoutMs }: CallTimeouts,
): Promise<ChatResponse> {
  const { signal } = request
  signal.throwIfAborted()
  const transport = new AbortController()
  const follow = (): void => transport.abort(signal.reason)
  signal.addEventListener('abort', follow, { once: true })
  const limits = { firstUpdateTimeoutMs: timeoutMs, idleTimeoutMs: timeoutMs }
  const timer = new StallTimer(limits, (words) => {
    transport.abort(new TransportFault('timeout', words))
  })
  timer.wait()
  try {
    const answering = model.doGenerate({ ...call.options, abortSignal: transport.signal })
    const result = await unlessAborted(transport.signal, answering)
    return ModelUpdates.whole(recordOf(result), updatesContext(model, call.omitted))
  } catch (error) {
    if (signal.aborted) throw signal.reason
    const cause: unknown = transport.signal.aborted ? transport.signal.reason : error
    throw toProviderError(cause, { ...failureOf(model, request), hasBegun: false })
  } finally {
    timer.stop()
    signal.removeEventListener('abort', follow)
  }
}

/** Makes a streamed call. It starts on the first pull. */
export function streamModel(
  model: CallableModel,
  request: ChatRequest,
  makeCall: () => Promise<ModelCall>,
  timeouts: CallTimeouts,
): AsyncIterable<ChatResponseUpdate> {
  let omitted: OmittedParts = { ignored: [], losses: [] }
  return readModelStream({
    signal: request.signal,
    timeouts,
    open: async (abortSignal) => {
      const call = await makeCall()
      omitted = call.omitted
      abortSignal.throwIfAborted()
      return model.doStream({ ...call.options, abortSignal })
    },
    mapper: () => new ModelUpdates(updatesContext(model, omitted)),
    toError: (cause, known) => toProviderError(cause, { ...failureOf(model, request), ...known }),
  })
}

function updatesContext(model: CallableModel, omitted: OmittedParts): UpdatesContext {
  const { specificationVersion: version, provider, modelId } = model
  return { version, origin: { provider, model: modelId }, omitted }
}

function failureOf(
  { provider }: CallableModel,
  request: ChatRequest,
): Omit<ModelFailure, 'hasBegun'> {
  const acts = listOf(request.options.tools).some((tool) => recordOf(tool)['type'] === 'hosted')
  return {
    provider,
    // What a provider runs itself may act on the world.
    replay: acts ? 'unsafe' : 'safe',
    // Keys are private to the packages of the AI SDK.
    confidential: { keys: () => [], texts: () => conversationTexts(request) },
  }
}
