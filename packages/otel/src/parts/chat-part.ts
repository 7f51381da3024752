import type {
  ChatClient,
  ChatContext,
  ChatMiddleware,
  ChatResponseUpdate,
  Middleware,
  UpdateTransformer,
} from '@lamella/core'
import { usageSince } from '@lamella/core/authoring'
import { messageOf } from './agent-part.ts'
import { boundClient } from './bound-client.ts'
import { providerName, providerOf } from '../base/conventions.ts'
import { finishReason, finishReasons } from '../base/finish-reasons.ts'
import type { Operation } from '../telemetry/operation.ts'
import { writeEvents } from '../telemetry/run-events.ts'
import type { RunTrace } from '../telemetry/run-trace.ts'
import { newTrace, traceOf } from '../telemetry/run-trace.ts'
import type { Telemetry } from '../telemetry/telemetry.ts'

/** The middleware around a model call, all its attempts included: `chat`. `own` is the middleware that it is part of. */
export function chatPart(
  telemetry: Telemetry,
  own: readonly Middleware[],
): ChatMiddleware['process'] {
  const bound = new WeakMap<ChatClient, ChatClient>()
  const bind = (client: ChatClient): ChatClient => {
    if (!bound.has(client)) bound.set(client, boundClient(client, telemetry.api!))
    return bound.get(client)!
  }

  return async (context, callNext) => {
    const waiting = telemetry.ready()
    if (waiting !== undefined) await waiting
    const { run, client, instructions, messages, stream } = context
    const operation = open(telemetry, context)
    const shared = sharedTrace(telemetry, context)
    if (shared !== undefined) shared.hasCalled = true
    if (!telemetry.sees(operation)) return telemetry.within(operation, callNext)

    const trace = shared ?? newTrace(telemetry, operation, run, undefined)
    trace.call = operation
    const unobserve = shared === undefined ? writeEvents(telemetry, run, trace) : undefined
    const usageBefore = run.usage
    const attemptsBefore = run.attempts.length
    const internalBefore = trace.internalUsage
    if (stream) {
      context.transformUpdates(clockFirstUpdate(() => telemetry.firstUpdate(operation)))
      if (operation.context !== undefined && middlewareHasRun(client, trace, own)) {
        context.client = bind(client)
      }
    }
    return telemetry.watch(operation, context, callNext, (ending) => {
      trace.call = undefined
      unobserve?.()
      const { status, result: response } = ending
      const internal = usageSince(trace.internalUsage, internalBefore)
      const usage = usageSince(usageSince(run.usage, usageBefore), internal)
      const { origin } = response?.messages.at(-1) ?? {}
      const provider = run.servedBy ?? origin?.provider ?? client.provider
      const cost = telemetry.priceOf({
        provider,
        model: response?.model ?? requestModel(context),
        usage,
      })
      trace.cost += cost ?? 0
      const isAnswered = status === 'completed' && run.servedBy === undefined
      const end = {
        ...ending,
        usage,
        cost,
        facts: {
          [providerName]: providerOf(provider),
          // Retries and fallbacks have recorded which client answered.
          'lamella.client': run.attempts.slice(attemptsBefore).at(-1)?.client ?? client.name,
          'gen_ai.response.id': response?.id,
          'gen_ai.response.model': response?.model,
          'gen_ai.response.finish_reasons': finishReasons(response?.finishReason),
          'lamella.short_circuit': isAnswered || undefined,
        },
        content: trace.captures
          ? () => ({
              instructions,
              input: messages,
              output: response?.messages,
              finishReason: finishReason(response?.finishReason),
              message: messageOf(ending),
            })
          : undefined,
      }
      telemetry.end(operation, end, shared?.held)
    })
  }
}

function open(telemetry: Telemetry, context: ChatContext): Operation {
  const { run, client, options, messages, stream, iteration } = context
  const { responseFormat: format } = options
  return telemetry.begin({
    operation: 'chat',
    subject: requestModel(context),
    run,
    facts: telemetry.factsOf(context, {
      [providerName]: providerOf(client.provider),
      'gen_ai.request.model': requestModel(context),
      'gen_ai.request.temperature': options.temperature,
      'gen_ai.request.top_p': options.topP,
      'gen_ai.request.max_tokens': options.maxOutputTokens,
      'gen_ai.request.seed': options.seed,
      'gen_ai.request.stop_sequences': options.stop,
      'gen_ai.request.stream': stream || undefined,
      'gen_ai.output.type': format && (format === 'text' ? 'text' : 'json'),
      'gen_ai.agent.name': run.agentName,
      'gen_ai.conversation.id': run.session?.id,
      'lamella.run.id': run.id,
      'lamella.run.iteration': iteration,
    }),
    messages: messages.length,
  })
}

/** That of the middleware around the run, if there is one. */
function sharedTrace(telemetry: Telemetry, { run }: ChatContext): RunTrace | undefined {
  let trace: RunTrace | undefined
  telemetry.safely(() => (trace = traceOf(run, telemetry)))
  return trace
}

/** It is unknown if the middleware of a client that a middleware chose has run. */
function middlewareHasRun(
  client: ChatClient,
  trace: RunTrace,
  own: readonly Middleware[],
): boolean {
  const { middleware } = client
  return (
    client === trace.client ||
    middleware.length === 0 ||
    middleware.some((entry) => own.includes(entry))
  )
}

function requestModel({ options, client }: ChatContext): string | undefined {
  return options.model ?? client.model
}

function clockFirstUpdate(onFirst: () => void): UpdateTransformer<ChatResponseUpdate> {
  let isFirst = true
  return {
    transform(update, controller) {
      if (isFirst) {
        isFirst = false
        onFirst()
      }
      controller.enqueue(update)
    },
  }
}
