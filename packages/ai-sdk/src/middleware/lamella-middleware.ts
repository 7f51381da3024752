import type { ClientMiddlewareInput, ChatMiddleware, FunctionMiddleware } from '@lamella/core'
import { checkOptions } from '@lamella/core/authoring'
import type { WireObject } from '@lamella/transport'
import { recordOf } from '@lamella/transport'
import type { AiSdkModel } from '../model/language-model.ts'
import { callableModel } from '../model/language-model.ts'
import { generateResult } from './answer-parts.ts'
import { callEnding } from './call-ending.ts'
import type { LamellaMiddlewareOptions } from './lamella-middleware-options.ts'
import { partStream } from './part-stream.ts'
import { WrappedModelClient } from './wrapped-model-client.ts'

/** A call that the AI SDK passes to a middleware. */
export interface AiSdkCall {
  /** Parameters of the call. */
  readonly params: object
  /** Model, with the middleware inside this one. */
  readonly model: AiSdkModel
}

/** A middleware for `wrapLanguageModel` of `ai` 6 (`'v3'`) or `ai` 7 (`'v4'`). */
export interface LamellaModelMiddleware<Version extends 'v3' | 'v4' = 'v4'> {
  /** Version of the specification. The AI SDK reads it nowhere; results are of the model's version. */
  readonly specificationVersion: Version
  /** Runs a plain call through the list. */
  wrapGenerate<Result>(
    call: AiSdkCall & { readonly doGenerate: () => PromiseLike<Result> },
  ): Promise<Result>
  /** Runs a streamed call through the list. */
  wrapStream<Result>(
    call: AiSdkCall & { readonly doStream: () => PromiseLike<Result> },
  ): Promise<Result>
}

/**
 * Creates an AI SDK middleware from chat middleware and guardrails, for `wrapLanguageModel`. Its
 * specification version is inferred from the context.
 * @throws TypeError for middleware of a level
 * that cannot run there
 * @example
 * ```ts
 * import { openai } from '@ai-sdk/openai'
 * import { lamellaMiddleware } from '@lamella/ai-sdk'
 * import { pii } from '@lamella/guardrail-pii'
 * import { cache } from '@lamella/middleware-cache'
 * import { generateText, wrapLanguageModel } from 'ai'
 *
 * const model = wrapLanguageModel({
 *   model: openai('gpt-5'),
 *   middleware: lamellaMiddleware([pii({ applyTo: ['input', 'output'] }), cache()]),
 * })
 * const ask = (prompt: string) => generateText({ model, prompt })
 * ```
 */
export function lamellaMiddleware<Version extends 'v3' | 'v4' = 'v4'>(
  list: ClientMiddlewareInput,
  options: LamellaMiddlewareOptions = {},
): LamellaModelMiddleware<Version> {
  checkOptions('lamellaMiddleware', options, {
    onBlock: ['return', 'throw'],
    blockMessage: 'string?',
    release: ['passthrough', 'full'],
    toolMiddleware: ['refuse', 'ignore'],
  })
  const middleware = chatMiddlewareIn(list, options.toolMiddleware === 'ignore')
  const settings = { ...options, release: options.release ?? usualRelease(middleware) }
  const clientOf = ({ model, params }: AiSdkCall): WrappedModelClient =>
    new WrappedModelClient(
      callableModel('lamellaMiddleware', model),
      params as WireObject,
      middleware,
    )

  return {
    // One object serves both: at run time nobody asks.
    specificationVersion: 'v4' as Version,

    async wrapGenerate<Result>(call: AiSdkCall) {
      const client = clientOf(call)
      const version = call.model.specificationVersion
      try {
        const { messages, ...rest } = client.request
        const response = await client.getResponse([...messages], rest)
        return generateResult(response, version) as Result
      } catch (error) {
        const ending = callEnding(error, client, options)
        if ('error' in ending) throw ending.error
        return generateResult(ending.response, version) as Result
      }
    },

    async wrapStream<Result>(call: AiSdkCall) {
      const client = clientOf(call)
      return (await partStream(client, call.model.specificationVersion, settings)) as Result
    },
  }
}

/** A repaired answer replaces what was streamed of it. */
function usualRelease(middleware: readonly ChatMiddleware[]): 'passthrough' | 'full' {
  return middleware.some(({ role }) => role === 'schema') ? 'full' : 'passthrough'
}

function chatMiddlewareIn(
  list: ClientMiddlewareInput,
  isLenient: boolean,
): readonly ChatMiddleware[] {
  if (isList(list)) return list.flatMap((entry) => chatMiddlewareIn(entry, isLenient))
  const { level, name, process, answersOnly } = recordOf(list)
  if (typeof process !== 'function' || typeof name !== 'string') {
    throw new TypeError(
      'lamellaMiddleware: the list must hold objects with `level`, `name` and `process`',
    )
  }
  if (level === 'chat') return [list as ChatMiddleware]
  if (level === 'function' && (isLenient || answersOnly === true)) return []
  const hint =
    level === 'function'
      ? "tool calls are the AI SDK's: leave out what is for them, or set `toolMiddleware: 'ignore'`"
      : 'a run around the calls is there with `new Agent({ client: aiSdk(model) })`'
  throw new TypeError(
    `lamellaMiddleware: middleware "${name}" is of level ${String(level)}, only chat runs here; ${hint}`,
  )
}

function isList(
  list: ClientMiddlewareInput,
): list is Exclude<ClientMiddlewareInput, ChatMiddleware | FunctionMiddleware> {
  return Array.isArray(list)
}
