import type { Agent, RunOptions } from './agent.ts'
import { configurationOf, layersOf } from './agent-run.ts'
import { mergeChatOptions } from './chat-options.ts'
import type { LoopConfiguration } from './function-invocation.ts'
import type { MessageInput } from './message.ts'
import { toMessages } from './message.ts'
import type { ToolDefinition } from './tool.ts'

/** What a run would go through. `String(explanation)` prints it. */
export interface Explanation {
  /** Names, outermost first. */
  readonly agent: readonly string[]
  readonly chat: readonly string[]
  readonly function: readonly string[]
  readonly provider: string
  readonly model: string | undefined
  readonly tools: readonly string[]
  /** Messages of the input, and of the session before it. */
  readonly messages: { readonly input: number; readonly history: number }
  readonly settings: LoopConfiguration
  toString(): string
}

export function explainRun(agent: Agent, input: MessageInput, options: RunOptions): Explanation {
  const layers = layersOf(agent, options)
  const chatOptions = mergeChatOptions(agent.options, options.options)
  const tools: readonly ToolDefinition[] = [
    ...agent.tools,
    ...(options.tools ?? []),
    ...(chatOptions.tools ?? []),
  ]
  const settings = configurationOf(agent, options)
  return {
    agent: layers.agent.map(({ name }) => name),
    chat: layers.chat.map(({ name }) => name),
    function: layers.function.map(({ name }) => name),
    provider: agent.client.provider,
    model: chatOptions.model ?? agent.client.model,
    tools: tools.map(({ name }) => name),
    messages: { input: toMessages(input).length, history: options.session?.messages.length ?? 0 },
    settings,
    toString: print,
  }
}

function print(this: Explanation): string {
  const chain = (layers: readonly string[], core: string): string => [...layers, core].join(' → ')
  const model = `${this.provider}${this.model === undefined ? '' : ` ${this.model}`}`
  return [
    `run         ${chain(this.agent, 'loop')}`,
    `model call  ${chain(this.chat, model)}`,
    `tool call   ${chain(this.function, this.tools.length === 0 ? '(no tools)' : this.tools.join(', '))}`,
    `messages    ${this.messages.history} of history, ${this.messages.input} of input`,
    `limits      ${this.settings.maxIterations} model calls, ${this.settings.maxFunctionCalls} tool calls`,
  ].join('\n')
}
