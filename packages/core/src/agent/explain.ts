import type { Explanation } from '../contract/agent.ts'
import { mergeChatOptions } from '../contract/chat-options.ts'
import type { MessageInput } from '../messages/message.ts'
import { toMessages } from '../messages/message.ts'
import type { RunnableAgent } from './agent-call.ts'
import type { RunOptions } from './agent-options.ts'
import { configurationOf, pipelinesOf } from './agent-run.ts'
import { orderWarnings } from './middleware-order.ts'

export function explainRun(
  agent: RunnableAgent,
  input: MessageInput,
  options: RunOptions,
): Explanation {
  const { middlewares } = pipelinesOf(agent, options)
  const { model = agent.client.model, tools = [] } = mergeChatOptions(
    agent.options,
    options.options,
  )
  return {
    agent: middlewares.agent.map(nameOf),
    chat: middlewares.chat.map(nameOf),
    function: middlewares.function.map(nameOf),
    provider: agent.client.provider,
    model,
    tools: [...agent.tools, ...(options.tools ?? []), ...tools].map(nameOf),
    messages: { input: toMessages(input).length, history: options.session?.messages.length ?? 0 },
    settings: configurationOf(agent, options),
    warnings: (['agent', 'chat', 'function'] as const).flatMap((level) =>
      orderWarnings(level, middlewares[level]),
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
