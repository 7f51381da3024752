import type { AgentContext, AgentMiddleware } from '../contract/agent.ts'
import type { AgentResponse, AgentResponseInit, AgentResponseUpdate } from '../contract/outcome.ts'
import { addAll, loopResponse } from '../loop/transcript.ts'
import type { ChatResponse, ChatResponseInit } from '../messages/chat-response.ts'
import { toChatResponse } from '../messages/chat-response.ts'
import type { Message, MessageInput } from '../messages/message.ts'
import { toMessages, withAuthor } from '../messages/message.ts'
import type { Nested } from '../pipeline/sort-middleware.ts'
import { sortMiddlewares } from '../pipeline/sort-middleware.ts'
import type { ResponseStream } from '../stream/response-stream.ts'
import { Agent } from './agent.ts'
import type { AgentView, RunPlan } from './agent-call.ts'
import { runRestart } from './agent-call.ts'
import type { AgentOptions, RunOptions } from './agent-options.ts'
import { startRun } from './agent-run.ts'

type OfAgent = Pick<AgentOptions, 'client' | 'name' | 'description' | 'blockMessage' | 'store'>
type OfRun = Omit<
  RunOptions,
  'middleware' | 'functionInvocation' | 'answers' | 'onCheckpoint' | 'control'
>

/** Input of a run with its own loop: the options of an agent, and the messages of the run. */
export interface AgentPipelineInput extends OfAgent, OfRun {
  /** Input of the run; history is not in it. */
  readonly messages: MessageInput
}

/**
 * Adds messages to the run: to its conversation, its response and the caller's stream. Updates of
 * model calls of this run are in the stream already and do not repeat.
 */
export type AddMessages = (messages: MessageInput) => readonly Message[]

/**
 * The loop: reads the context, makes model calls and tool calls, and adds their messages. Its
 * return value is added too, if it was not added before.
 */
export type AgentHandler = (
  context: AgentContext,
  add: AddMessages,
) => AgentAnswer | Promise<AgentAnswer>

/** Result of a loop. Without a value, the added messages are the response. */
export type AgentAnswer = ChatResponse | AgentResponseInit | ChatResponseInit | string | void

/** Runs loops through agent middleware. */
export interface AgentPipeline {
  /**
   * Runs a loop. Resolves and rejects as `agent.run` does, session and statuses included.
   * @throws TypeError or RangeError that names the option and the value
   */
  execute(context: AgentPipelineInput, handler: AgentHandler): Promise<AgentResponse>
  /** Streams a run. The loop starts with the first pull. */
  stream(
    context: AgentPipelineInput,
    handler: AgentHandler,
  ): ResponseStream<AgentResponseUpdate, AgentResponse>
}

/**
 * Composes agent middleware around your own loop. An `Agent` uses the same pipeline around its loop
 * of model calls and tool calls.
 *
 * @example
 * ```ts
 * import { agentMiddleware } from '@lamella/core'
 * import { agentPipeline, chatPipeline } from '@lamella/core/authoring'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const signed = agentMiddleware('signed', async (context, callNext) => {
 *   const { text } = await callNext()
 *   context.result = `${text} (answered by two models)`
 * })
 * const client = scriptedClient(['A draft.', 'A better answer.'])
 * const calls = chatPipeline([])
 * const { text } = await agentPipeline(signed).execute(
 *   { client, messages: 'Explain rivers.' },
 *   async ({ run, messages }) => {
 *     const draft = await calls.execute({ client, messages, parent: run })
 *     return calls.execute({ client, messages: [...messages, `Improve: ${draft.text}`], run })
 *   },
 * )
 * console.log(text) // A better answer. (answered by two models)
 * ```
 * @throws TypeError for an entry that is not an agent middleware
 */
export function agentPipeline(middleware: Nested<AgentMiddleware>): AgentPipeline {
  const { agent: middlewares } = sortMiddlewares(middleware, 'agentPipeline', ['agent'])
  const start = (
    context: AgentPipelineInput & Pick<RunPlan['options'], 'stream'>,
    handler: AgentHandler,
  ) => {
    const { client, name, description, blockMessage, store, messages, ...options } = context
    const init = { client, name, description, blockMessage, store, middleware: middlewares }
    return startRun(new Agent(init), messages, options, (view) => runHandler(view, handler))
  }
  return {
    execute: async (context, handler) =>
      start({ ...context, stream: false }, handler) as Promise<AgentResponse>,
    stream: (context, handler) =>
      start({ ...context, stream: true }, handler) as ReturnType<AgentPipeline['stream']>,
  }
}

async function runHandler(view: AgentView, handler: AgentHandler): Promise<AgentResponse> {
  const { call, run } = view
  // Ids of providers may repeat, so messages are counted.
  const isAhead = ({ id }: Message): boolean =>
    countOf(id, call.streamed) > countOf(id, run.messages.added)
  const given = new Set<Message>()
  const add: AddMessages = (input) => {
    const { added } = run.messages
    const messages = toMessages(input, 'assistant', run.ids).filter(
      (one) => !added.includes(one) && !given.has(one),
    )
    for (const one of messages) {
      given.add(one)
      if (isAhead(one))
        run.journal.record({ kind: 'messages', messages: withAuthor([one], run.agentName) })
      else addAll(run, [one])
    }
    return messages
  }
  const answer = (await handler(view, add)) ?? view.result
  const last = answer === undefined ? undefined : toChatResponse(answer, run.ids)
  if (last !== undefined) add(last.messages)
  const { stopped } = run
  if (stopped?.response !== undefined) add(toChatResponse(stopped.response, run.ids).messages)
  if (call.streamed?.some(isAhead) === true) {
    // The stream has updates of a model call that the loop has discarded.
    run.sink.push(runRestart)
    for (const { id: messageId, ...rest } of run.messages.added)
      run.sink.push({ ...rest, messageId })
  }
  const status = stopped === undefined ? 'completed' : 'terminated'
  return loopResponse(run, last, { status, reason: stopped?.reason })
}

function countOf(id: string, messages: readonly Message[] = []): number {
  return messages.filter((one) => one.id === id).length
}
