import type {
  AgentContext,
  AgentMiddleware,
  FunctionMiddleware,
  GuardEvent,
  RunContext,
} from '@lamella/core'
import { defineState } from '@lamella/core'
import type { ApprovalQuestion, LayerOptions } from '@lamella/core/authoring'
import { agentLayer, functionLayer, gateApprovals, reporter } from '@lamella/core/authoring'

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

/** Makes the layers that keep tools with side effects behind approval once untrusted content came in. */
export function taintRule(
  { untrusted = () => true, restrict = 'writes' }: TaintOptions,
  options: LayerOptions<AgentContext, GuardEvent> & { readonly name: string },
): readonly (AgentMiddleware | FunctionMiddleware)[] {
  const { mode, name } = options
  const report = reporter('guardrail', options.onEvent)
  const isUntrusted =
    typeof untrusted === 'function' ? untrusted : (tool: string) => untrusted.includes(tool)
  const isRestricted =
    typeof restrict === 'function'
      ? restrict
      : ({ tool }: ApprovalQuestion) => restrict === 'all' || !tool.readOnly

  const gate = agentLayer('injection', options, async ({ run }, callNext) => {
    gateApprovals(run, (call) => {
      const sources = sourcesOf(run, isUntrusted)
      if (sources.length === 0 || !isRestricted(call)) return false
      const status = mode === 'shadow' ? mode : 'flagged'
      report(run, { guardrail: name, stage: 'arguments', status, category: 'tainted_call' })
      if (mode === 'shadow') return false
      return { reason: `untrusted content came in through ${sources.join(', ')}` }
    })
    await callNext()
  })
  const record = functionLayer('injection', { name }, async (context, callNext) => {
    try {
      await callNext()
    } finally {
      const { name: tool } = context.function
      if (isUntrusted(tool)) {
        context.run.state.update(reads, (known) => [...new Set([...known, tool])])
      }
    }
  })
  return [gate, record]
}

/** The tools that a session has read from. It outlives what a layer takes out of the conversation. */
const reads = defineState<readonly string[]>({
  name: 'lamella.injection.untrusted-reads',
  scope: 'session',
  initial: () => [],
  schema: { type: 'array', items: { type: 'string' } },
})

/** Asked before any call of a batch runs, so it names what the model had read when it asked for them. */
function sourcesOf(run: RunContext, isUntrusted: (tool: string) => boolean): readonly string[] {
  const inHistory = run.messages.all.flatMap(({ contents }) =>
    contents.flatMap((part) => (part.type === 'function-result' ? (part.name ?? 'a tool') : [])),
  )
  return [...new Set([...run.state.get(reads), ...inHistory])].filter(isUntrusted)
}
