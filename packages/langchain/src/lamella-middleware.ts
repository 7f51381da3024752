import { ToolMessage } from '@langchain/core/messages'
import type {
  AgentMiddleware,
  ChatMiddleware,
  FunctionMiddleware,
  Middleware,
  MiddlewareInput,
  Session,
  Tool,
} from '@lamella/core'
import { chatResponse, LamellaError, MiddlewareTermination, tool } from '@lamella/core'
import {
  chatPipeline,
  checkOptions,
  createSecretId,
  functionPipeline,
} from '@lamella/core/authoring'
import { recordOf } from '@lamella/transport'
import { createMiddleware } from 'langchain'
import type { AgentMiddleware as LangChainMiddleware } from 'langchain'
import { z } from 'zod'
import { GuardedModel } from './guarded-model.ts'
import { textOfContent, withText } from './message-contents.ts'
import type { Conversation } from './message-contents.ts'
import type { OpenRun } from './open-runs.ts'
import { OpenRuns } from './open-runs.ts'
import type { InnerModel } from './model-client.ts'

/** Owner and data of a run, as `agent.run` takes them. */
export interface RunOwner {
  /** Tenant that the run belongs to. @default none */
  readonly tenant?: string | undefined
  /** User that the run belongs to. @default none */
  readonly principal?: string | undefined
  /** Session that keeps state between runs, such as a vault. @default none */
  readonly session?: Session | undefined
  /** Value for middleware, as `context.run.data`. @default none */
  readonly data?: unknown
}

/** Options of {@link lamellaMiddleware}. */
export interface LamellaMiddlewareOptions {
  /** Name among the middleware of LangChain. @default 'lamella' */
  readonly name?: string | undefined
  /**
   * Returns whose run begins, from the context and the configuration that LangChain was invoked with.
   * @default () => ({})
   */
  readonly owner?:
    | ((runtime: { readonly context: unknown; readonly configurable: unknown }) => RunOwner)
    | undefined
  /**
   * Runs that may be open at once. The oldest one ends when there are more: LangChain does not report runs
   * that fail outside model calls and tool calls.
   * @default 1000
   */
  readonly maxOpenRuns?: number | undefined
}

/**
 * Creates a middleware for `createAgent` of LangChain 1.x from Lamella's middleware of all levels. A run of
 * LangChain is a run, each of its model calls a run inside it, and its tool calls are those of the run.
 * Streamed text passes through the middleware before it reaches LangChain's stream.
 * @throws TypeError or RangeError that names the option and the value
 * @example
 * ```ts
 * import { lamellaMiddleware } from '@lamella/langchain'
 * import { pii } from '@lamella/guardrail-pii'
 * import { budget } from '@lamella/middleware-budget'
 * import { createAgent } from 'langchain'
 *
 * const agent = createAgent({
 *   model: 'openai:gpt-5-mini',
 *   tools: [],
 *   middleware: [lamellaMiddleware([budget({ limits: { modelCalls: 10 } }), pii({ vault: true })])],
 * })
 * ```
 */
export function lamellaMiddleware(
  list: MiddlewareInput,
  options: LamellaMiddlewareOptions = {},
): LangChainMiddleware {
  checkOptions('lamellaMiddleware', options, {
    name: 'string?',
    owner: 'function?',
    maxOpenRuns: 1,
  })
  const { name = 'lamella', owner = () => ({}), maxOpenRuns = 1000 } = options
  const all = flat(list)
  const calls = chatPipeline(all.filter(isChat))
  const toolCalls = functionPipeline(all.filter(isFunction))
  const runs = new OpenRuns(all.filter(isAgent), maxOpenRuns)

  const runOf = (state: unknown, runtime: Runtime, conversation?: Conversation): OpenRun =>
    runs.at(idOf(state), () => ({
      ...owner({ context: runtime.context, configurable: runtime.configurable }),
      signal: runtime.signal,
      messages: conversation?.messages ?? [],
      instructions: conversation?.instructions,
    }))

  return createMiddleware({
    name,
    stateSchema: z.object({ [runKey]: z.string().optional() }),
    beforeAgent: () => ({ [runKey]: createSecretId('run') }),
    async wrapModelCall(request, handler) {
      const id = idOf(request.state)
      const runtime = request.runtime as Runtime
      const inner = request.model as unknown as InnerModel
      const model = new GuardedModel({
        inner,
        calls,
        runOf: (conversation) => runOf(request.state, runtime, conversation),
      })
      try {
        const answer = await handler({ ...request, model: model as never })
        // The run has ended with an answer.
        if (answer.tool_calls?.length === 0) runs.delete(id)
        return answer
      } catch (error) {
        if (!isPause(error)) await runs.fail(id, error)
        throw error
      }
    },
    async wrapToolCall(request, handler) {
      const { toolCall } = request
      const open = runOf(request.state, request.runtime as unknown as Runtime)
      const { id: callId = '', name: toolName } = toolCall
      let answer: Awaited<ReturnType<typeof handler>> | undefined
      let pause: unknown
      const executed = toolCalls.execute(
        { run: await open.context(), function: toolOf(toolName), arguments: toolCall.args, callId },
        async ({ arguments: args }) => {
          try {
            answer = await handler({ ...request, toolCall: { ...toolCall, args: { ...args } } })
          } catch (thrown) {
            if (!isPause(thrown)) throw thrown
            pause = thrown
            throw new MiddlewareTermination('paused by LangGraph')
          }
          return ToolMessage.isInstance(answer) ? textOfContent(answer.content) : ''
        },
      )
      const { contents, error } = await executed.catch((failure: unknown) => {
        throw pause ?? refusal(failure, toolName)
      })
      // A command changes the graph; it has no text that a guardrail could read.
      if (answer !== undefined && !ToolMessage.isInstance(answer)) return answer
      open.add({ role: 'tool', contents: [{ type: 'function-result', callId, contents }] })
      const text = contents.map((content) => (content.type === 'text' ? content.text : '')).join('')
      if (answer !== undefined && text === textOfContent(answer.content)) return answer
      return new ToolMessage({
        content: answer === undefined ? text : withText(answer.content, text),
        tool_call_id: callId,
        name: toolName,
        status: error === undefined ? 'success' : 'error',
      })
    },
    async afterAgent(state: unknown) {
      const id = idOf(state)
      const rest = runs.delete(id)?.end(chatResponse(''))
      if (rest !== undefined) for await (const _ of rest);
    },
  })
}

/** Key in LangChain's state, private by its underscore. */
const runKey = '_lamellaRun'

interface Runtime {
  readonly context: unknown
  readonly configurable: unknown
  readonly signal: AbortSignal | undefined
}

function idOf(state: unknown): string {
  return String((state as { readonly [runKey]?: string })[runKey])
}

/** Tells of a tool that needs an approval where LangChain asks for it; any other failure stays as it is. */
function refusal(failure: unknown, name: string): unknown {
  if (!LamellaError.is(failure, 'approval_invalid')) return failure
  const problem = `lamellaMiddleware: the tool "${name}" needs an approval, which only an Agent can wait for`
  return new LamellaError(`${problem}; use humanInTheLoopMiddleware of LangChain for it`, {
    code: 'approval_invalid',
    cause: failure,
  })
}

/** Returns true for what LangGraph throws to pause or to leave a node, which is no failure. */
function isPause(error: unknown): boolean {
  return recordOf(error)['is_bubble_up'] === true
}

/** LangChain checks the arguments. */
function toolOf(name: string): Tool {
  return { ...anyTool, name }
}

const anyTool = tool({ name: 'tool', description: '', execute: () => undefined })

function flat(list: MiddlewareInput): readonly Middleware[] {
  return Array.isArray(list) ? list.flatMap(flat) : [list as Middleware]
}

const isAgent = (entry: Middleware): entry is AgentMiddleware => entry.level === 'agent'
const isChat = (entry: Middleware): entry is ChatMiddleware => entry.level === 'chat'
const isFunction = (entry: Middleware): entry is FunctionMiddleware => entry.level === 'function'
