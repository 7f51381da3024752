import type {
  AgentContext,
  AgentMiddleware,
  ChatMiddleware,
  GuardrailEvent,
  Message,
  RunContext,
} from '@lamella/core'
import { defineState } from '@lamella/core'
import type { ApprovalQuestion, MiddlewareOptions } from '@lamella/core/authoring'
import {
  defineAgentMiddleware,
  defineChatMiddleware,
  gateCalls,
  reporter,
} from '@lamella/core/authoring'

/** Options of the taint rule. */
export interface TaintOptions {
  /**
   * Tools whose results anybody may have written, by name or by a function of the name.
   * @default all tools
   */
  readonly untrusted?: readonly string[] | ((tool: string) => boolean) | undefined
  /**
   * Which calls then need a person's approval: those of tools that are not `readOnly`, all, or those
   * for which the function says so.
   * @default 'writes'
   */
  readonly restrict?: 'writes' | 'all' | ((call: ApprovalQuestion) => boolean) | undefined
}

/** Makes the middlewares that keep tools with side effects behind approval once untrusted content came in. */
export function taintRule(
  { untrusted = () => true, restrict = 'writes' }: TaintOptions,
  options: MiddlewareOptions<AgentContext, GuardrailEvent> & { readonly name: string },
): readonly (AgentMiddleware | ChatMiddleware)[] {
  const { mode, name } = options
  const report = reporter('guardrail', options.onEvent)
  const isUntrusted =
    typeof untrusted === 'function' ? untrusted : (tool: string) => untrusted.includes(tool)
  const isRestricted =
    typeof restrict === 'function'
      ? restrict
      : ({ tool }: ApprovalQuestion) => restrict === 'all' || !tool.readOnly

  const note = (run: RunContext, tool: string): void => {
    if (isUntrusted(tool)) run.state.update(reads, (known) => [...new Set([...known, tool])])
  }

  const gate = defineAgentMiddleware('injection', options, async ({ run }, callNext) => {
    gateCalls(run, {
      // Of its own, so that the taint of a sub-agent does not override its parent's.
      role: `${name} ${run.id}`,
      approval: (call) => {
        const sources = sourcesOf(run, isUntrusted)
        if (sources.length === 0 || !isRestricted(call)) return false
        const status = mode === 'shadow' ? mode : 'flagged'
        report(run, { guardrail: name, stage: 'arguments', status, category: 'tainted_call' })
        if (mode === 'shadow') return false
        return { reason: `untrusted content came in through ${sources.join(', ')}` }
      },
      // Also where a sub-agent calls the tool: what it read, it tells this run.
      execution: ({ function: tool }) => note(run, tool.name),
    })
    await callNext()
  })
  // Hosted tools have run before the model's answer is there, so their calls stand in it.
  const hosted = defineChatMiddleware(
    'injection',
    { name: `${name}-hosted` },
    async (context, callNext) => {
      await callNext()
      for (const tool of hostedIn(context.result?.messages ?? [])) note(context.run, tool)
    },
  )
  return [gate, hosted]
}

/** The tools that a session has read from. It outlives what a middleware takes out of the conversation. */
const reads = defineState<readonly string[]>({
  name: 'lamella.injection.untrusted-reads',
  scope: 'session',
  initial: () => [],
  schema: { type: 'array', items: { type: 'string' } },
})

/** Returns the untrusted tools from which the model had read when it asked for a call. */
function sourcesOf(run: RunContext, isUntrusted: (tool: string) => boolean): readonly string[] {
  const { all } = run.messages
  const parts = all.flatMap(({ contents }) => contents)
  const names = new Map(
    parts.flatMap((part) => (part.type === 'function-call' ? [[part.callId, part.name]] : [])),
  )
  const inHistory = parts.flatMap((part) =>
    part.type === 'function-result' ? (part.name ?? names.get(part.callId) ?? 'a tool') : [],
  )
  const found = [...run.state.get(reads), ...inHistory, ...hostedIn(all)]
  return [...new Set(found)].filter((tool) => tool === 'a tool' || isUntrusted(tool))
}

/** Returns the names of the hosted tools that have run in some messages. */
function hostedIn(messages: readonly Message[]): readonly string[] {
  return messages.flatMap(({ contents }) =>
    contents.flatMap((part) => (part.type === 'hosted' ? (part.name ?? 'a hosted tool') : [])),
  )
}
