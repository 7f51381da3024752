import type { Agent, RunOptions } from './agent.ts'
import { configurationOf, pipelinesOf } from './agent-run.ts'
import { mergeChatOptions } from './chat-options.ts'
import type { LoopConfiguration } from './function-invocation.ts'
import { orderWarnings } from './layer-order.ts'
import type { MessageInput } from './message.ts'
import { toMessages } from './message.ts'

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
  /** Layers whose order is not the recommended one, or that share a name. */
  readonly warnings: readonly string[]
  toString(): string
}

export function explainRun(agent: Agent, input: MessageInput, options: RunOptions): Explanation {
  const { layers } = pipelinesOf(agent, options)
  const { model = agent.client.model, tools = [] } = mergeChatOptions(
    agent.options,
    options.options,
  )
  return {
    agent: layers.agent.map(nameOf),
    chat: layers.chat.map(nameOf),
    function: layers.function.map(nameOf),
    provider: agent.client.provider,
    model,
    tools: [...agent.tools, ...(options.tools ?? []), ...tools].map(nameOf),
    messages: { input: toMessages(input).length, history: options.session?.messages.length ?? 0 },
    settings: configurationOf(agent, options),
    warnings: (['agent', 'chat', 'function'] as const).flatMap((level) =>
      orderWarnings(level, layers[level]),
    ),
    toString: print,
  }
}

function print(this: Explanation): string {
  const { provider, model, tools, messages, settings, warnings } = this
  const lines = {
    run: [...this.agent, 'loop'],
    'model call': [...this.chat, [provider, model].join(' ').trim()],
    'tool call': [...this.function, tools.join(', ') || '(no tools)'],
    messages: [`${messages.history} of history, ${messages.input} of input`],
    ...(warnings.length > 0 && { warnings: [warnings.join('; ')] }),
    limits: [`${settings.maxIterations} model calls, ${settings.maxFunctionCalls} tool calls`],
  }
  return Object.entries(lines)
    .map(([name, parts]) => name.padEnd(12) + parts.join(' → '))
    .join('\n')
}

function nameOf({ name }: { readonly name: string }): string {
  return name
}
