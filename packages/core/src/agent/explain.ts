import { wrongOption } from '../base/check-options.ts'
import type { AgentInfo, Explanation, Middleware } from '../contract/agent.ts'
import { mergeChatOptions } from '../contract/chat-options.ts'
import type { MessageInput } from '../messages/message.ts'
import { toMessages } from '../messages/message.ts'
import type { RunnableAgent } from './agent-call.ts'
import type { RunOptions } from './agent-options.ts'
import { configurationOf, pipelinesOf } from './agent-run.ts'
import { orderWarnings } from './middleware-order.ts'

/**
 * Lists the middleware, tools and settings of a run with this input, without calling anything. Takes an agent, or
 * that of a context.
 * @throws TypeError for anything else
 *
 * @example
 * ```ts
 * import { Agent, explain } from '@lamella/core'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const agent = new Agent({ name: 'helper', client: scriptedClient([]) })
 * console.log(explain(agent, 'Hello').name) // helper
 * ```
 */
export function explain(
  info: AgentInfo,
  input: MessageInput,
  options: RunOptions = {},
): Explanation {
  // The agent of a context is the agent itself.
  const agent = info as RunnableAgent
  if (!agent?.composed) throw wrongOption('explain', 'info', 'an agent', info, true)
  const { agent: atAgent, chat, function: atFunction } = pipelinesOf(agent, options).middlewares
  const levels = { agent: shown(atAgent), chat: shown(chat), function: shown(atFunction) }
  const { session } = options
  const history = session !== undefined && 'messages' in session ? session.messages.length : 0
  const { client, options: own } = agent
  const { model = client.model, tools = [] } = mergeChatOptions(own, options.options)
  const toolNames = [...agent.tools, ...(options.tools ?? []), ...tools].map(nameOf)
  return {
    name: agent.name,
    agent: levels.agent.map(nameOf),
    chat: levels.chat.map(nameOf),
    function: levels.function.map(nameOf),
    provider: client.provider,
    client: client.name ?? client.provider,
    model,
    tools: toolNames,
    messages: { input: toMessages(input).length, history },
    settings: configurationOf(agent, options),
    get warnings() {
      const all = Object.values(levels).flat()
      const roles = all.flatMap(({ role }) => role ?? [])
      const plan = { client, model, tools: toolNames, roles }
      return (['agent', 'chat', 'function'] as const).flatMap((level) => [
        ...orderWarnings(level, levels[level], [agent.middleware, options.middleware]),
        ...levels[level].flatMap((middleware) => middleware.review?.(plan) ?? []),
      ])
    },
    toString: print,
  }
}

function print(this: Explanation): string {
  const { client, model, tools, messages, settings, warnings } = this
  const { maxIterations, maxFunctionCalls } = settings
  const ofTools = maxFunctionCalls === Infinity ? 'any number of' : maxFunctionCalls
  const lines = {
    run: [...this.agent, 'loop'],
    'model call': [...this.chat, [client, model].join(' ').trim()],
    'tool call': [...this.function, tools.join(', ') || '(no tools)'],
    messages: [`${messages.history} of history, ${messages.input} of input`],
    ...(warnings.length > 0 && { warnings: [warnings.join('; ')] }),
    limits: [`${maxIterations} model calls, ${ofTools} tool calls`],
  }
  return Object.entries(lines)
    .map(([name, parts]) => name.padEnd(12) + parts.join(' → '))
    .join('\n')
}

/** Leaves out probes, which record a run and change nothing in it. */
function shown<M extends Middleware>(middlewares: readonly M[]): readonly M[] {
  return middlewares.filter(({ role }) => role !== 'probe')
}

function nameOf({ name }: { readonly name: string }): string {
  return name
}
