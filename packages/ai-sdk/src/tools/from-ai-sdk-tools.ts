import type {
  ApprovalPolicy,
  FunctionInvocationContext,
  FunctionResult,
  Message,
  Tool,
  ToolDefinition,
} from '@lamella/core'
import { hostedTool, tool } from '@lamella/core'
import { checkOptions } from '@lamella/core/authoring'
import { recordOf } from '@lamella/transport'
import { modelHistory } from '../client/model-history.ts'
import { toPrompt } from '../client/prompt.ts'
import { fromToolOutput } from '../model/tool-result.ts'
import type { AiSdkTool } from './ai-sdk-tool.ts'
import { inputSchema } from './input-schema.ts'

/** Options of `fromAiSdkTools`. */
export interface FromAiSdkToolsOptions {
  /**
   * Value that tools get as `context` and `experimental_context`.
   * @default the `data` of the run
   */
  readonly context?: unknown
}

/**
 * Converts a tool set of the AI SDK: functions with their schemas, approvals, progress and
 * `toModelOutput`, and tools that a provider runs as hosted tools.
 * @throws TypeError for a tool that cannot be translated, by its name
 * @example
 * ```ts
 * import { fromAiSdkTools } from '@lamella/ai-sdk'
 * import { tool } from 'ai'
 * import { z } from 'zod'
 *
 * const tools = fromAiSdkTools({
 *   weather: tool({
 *     description: 'Tells the weather of a city.',
 *     inputSchema: z.object({ city: z.string() }),
 *     execute: ({ city }) => `sunny in ${city}`,
 *   }),
 * })
 * ```
 */
export function fromAiSdkTools(
  tools: Readonly<Record<string, AiSdkTool>>,
  options: FromAiSdkToolsOptions = {},
): readonly ToolDefinition[] {
  checkOptions('fromAiSdkTools', options, { context: 'any' })
  return Object.entries(tools).map(([name, given]) => {
    const { type, id, args = {}, execute } = given
    if (type !== 'provider' && type !== 'provider-defined') return toTool(name, given, options)
    if (execute !== undefined) {
      throw new TypeError(
        `fromAiSdkTools: "${name}" is declared by a provider and run here, which has no counterpart; write it with \`tool()\``,
      )
    }
    return hostedTool(name, { id, args })
  })
}

function toTool(name: string, given: AiSdkTool, options: FromAiSdkToolsOptions): Tool {
  const { description = '', execute, strict, inputExamples, providerOptions } = given
  const { parameters, jsonSchema } = inputSchema(given.inputSchema, `fromAiSdkTools: "${name}"`)
  const ofModel = { strict, inputExamples, providerOptions }
  const told = Object.entries(ofModel).filter(([, value]) => value !== undefined)
  return tool({
    name,
    description:
      typeof description === 'string' ? description : description(contextOf(options) as never),
    parameters,
    ...(jsonSchema !== undefined && { jsonSchema }),
    ...(execute !== undefined && {
      execute: (input: unknown, context: FunctionInvocationContext) =>
        run(given, input, context, options),
    }),
    approval: approvalOf(given, options),
    ...(told.length > 0 && { metadata: { aiSdk: Object.fromEntries(told) } }),
  })
}

function run(
  { execute, toModelOutput }: AiSdkTool,
  input: unknown,
  context: FunctionInvocationContext,
  options: FromAiSdkToolsOptions,
): unknown {
  const { callId: toolCallId } = context
  const output: unknown = execute!(
    input as never,
    {
      toolCallId,
      messages: messagesBefore(context),
      abortSignal: context.signal,
      ...contextOf(options, context.run.data),
    } as never,
  )
  const finish = async (value: unknown): Promise<unknown> => {
    const result = await value
    if (toModelOutput === undefined) return result
    const read = await toModelOutput({ toolCallId, input, output: result } as never)
    return { ...fromToolOutput(read), value: result } satisfies FunctionResult
  }
  return isAsyncIterable(output) ? inProgress(output, finish) : finish(output)
}

/** All but the last value are progress. */
async function* inProgress(
  values: AsyncIterable<unknown>,
  finish: (value: unknown) => Promise<unknown>,
): AsyncGenerator<unknown, unknown> {
  let last: { readonly value: unknown } | undefined
  for await (const value of values) {
    if (last !== undefined) yield last.value
    last = { value }
  }
  return finish(last?.value)
}

/** Messages that the model was sent when it made the call. */
function messagesBefore({ run: { messages }, callId }: FunctionInvocationContext): unknown {
  const all = messages.all.filter(({ role }) => role !== 'system')
  const asked = all.findLastIndex((message) => makesCall(message, callId))
  const sent = asked === -1 ? all : all.slice(0, asked)
  const home = { provider: '' }
  const target = { version: 'v3', provider: '' } as const
  return toPrompt(modelHistory(sent, home).messages, undefined, target)
}

function makesCall({ contents }: Message, callId: string): boolean {
  return contents.some((content) => content.type === 'function-call' && content.callId === callId)
}

function approvalOf({ needsApproval }: AiSdkTool, options: FromAiSdkToolsOptions): ApprovalPolicy {
  if (typeof needsApproval !== 'function') return needsApproval === true ? 'always' : 'never'
  return async ({ arguments: input, callId: toolCallId }) =>
    needsApproval(input as never, { toolCallId, messages: [], ...contextOf(options) } as never)
}

function contextOf({ context }: FromAiSdkToolsOptions, data?: unknown): object {
  const value = context ?? data
  return { context: value, experimental_context: value }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof recordOf(value)[Symbol.asyncIterator as never] === 'function'
}
