import type {
  AgentContext,
  AgentMiddleware,
  ChatMiddleware,
  Message,
  RunContext,
} from '@lamella/core'
import type { GuardrailEvent } from '@lamella/guardrail'
import { defineState, jsonSchema, LamellaError } from '@lamella/core'
import type { CallGate, IterationContext, MiddlewareOptions } from '@lamella/core/authoring'
import {
  defineAgentMiddleware,
  defineChatMiddleware,
  interceptLoop,
  reporter,
} from '@lamella/core/authoring'

type ToolQuestion = Parameters<NonNullable<CallGate['approval']>>[0]

/** Options of the taint rule. */
export interface TaintOptions {
  /**
   * Tools whose results are untrusted, as names or a function of the name.
   * @default all tools
   */
  readonly untrusted?: readonly string[] | ((tool: string) => boolean) | undefined
  /**
   * Calls that then need a person's approval: those of tools that are not `readOnly`, all calls, or
   * those for which the function returns true.
   * @default 'writes'
   */
  readonly restrict?: 'writes' | 'all' | ((call: ToolQuestion) => boolean) | undefined
  /**
   * Fails a run in which `untrusted` names no tool, instead of reporting it.
   * @default false
   */
  readonly strict?: boolean | undefined
}

/**
 * Creates the middleware that requires approval for tools with side effects once untrusted content
 * is in the conversation.
 */
export function taintRule(
  { untrusted = () => true, restrict = 'writes', strict = false }: TaintOptions,
  options: MiddlewareOptions<AgentContext, GuardrailEvent> & { readonly name: string },
): readonly (AgentMiddleware | ChatMiddleware)[] {
  const { mode, name } = options
  const report = reporter('guardrail', options.onEvent)
  const isUntrusted =
    typeof untrusted === 'function' ? untrusted : (tool: string) => untrusted.includes(tool)
  const isRestricted =
    typeof restrict === 'function'
      ? restrict
      : ({ tool }: ToolQuestion) => restrict === 'all' || !tool.readOnly

  // A misspelled name would leave the rule without effect.
  const unmatched = (tools: readonly string[]): readonly string[] =>
    (typeof untrusted === 'function' ? [] : untrusted)
      .filter((tool) => !tools.includes(tool))
      .map((tool) => `${name}: \`taint.untrusted\` names no tool: ${tool}`)
  const gate = defineAgentMiddleware(role, options, async ({ run }, callNext) => {
    run.gateCalls({
      approval: (call) => {
        const sources = sourcesOf(run).filter((tool) => unnamed.has(tool) || isUntrusted(tool))
        if (sources.length === 0 || !isRestricted(call)) return false
        const status = mode === 'shadow' ? mode : 'flagged'
        report(run, { guardrail: name, stage: 'arguments', status, category: 'tainted_call' })
        if (mode === 'shadow') return false
        return { reason: `the conversation contains untrusted content of ${sources.join(', ')}` }
      },
      execution: ({ function: tool }) => note(run, tool.name),
    })
    // Sub-agents inherit the rule, and have other tools.
    if (run.parent === undefined) interceptLoop(run, { name, iteration: tellUnmatched })
    await callNext()
  })
  /** Before the first model call, when all agent middleware has added its tools. */
  async function tellUnmatched(
    { run, iteration }: IterationContext,
    next: () => Promise<void>,
  ): Promise<void> {
    const reasons = iteration > 0 ? [] : unmatched(run.tools.executable.map((tool) => tool.name))
    if (reasons.length > 0 && strict && mode !== 'shadow') {
      throw new LamellaError(reasons.join('; '), { code: 'policy_unmatched' })
    }
    for (const reason of reasons) {
      report(run, {
        guardrail: name,
        stage: 'arguments',
        status: 'error',
        category: 'unmatched_name',
        reason,
      })
    }
    await next()
  }
  // Hosted tools run before the model's answer is complete, so the answer contains their calls.
  const hosted = defineChatMiddleware(
    role,
    { name: `${name}-hosted` },
    async (context, callNext) => {
      await callNext()
      for (const tool of hostedIn(context.result?.messages ?? [])) note(context.run, tool)
    },
  )
  return [{ ...gate, review: ({ tools }) => unmatched(tools) }, hosted]
}

/**
 * A separate role: a sub-agent with a guardrail of the role `injection` but without this rule
 * inherits the rule.
 */
const role = 'taint'
const unnamed: ReadonlySet<string> = new Set(['a tool', 'a hosted tool'])

/**
 * The tools that a session has read from. The list stays complete if a middleware removes messages
 * from the conversation.
 */
const reads = defineState<readonly string[]>({
  name: 'lamella.injection.untrusted-reads',
  scope: 'session',
  initial: () => [],
  schema: jsonSchema({ type: 'array', items: { type: 'string' } }),
})

/** Records that a run, and the run that called it, have read from a tool. */
function note(run: RunContext, tool: string): void {
  for (const one of withParents(run)) {
    one.state.update(reads, (known) => (known.includes(tool) ? known : [...known, tool]))
  }
}

/**
 * Returns the tools from which the run and its callers had read when the model requested a call.
 */
function sourcesOf(run: RunContext): readonly string[] {
  const found = withParents(run).flatMap(({ state, messages: { all } }) => {
    const parts = all.flatMap(({ contents }) => contents)
    const names = new Map(
      parts.flatMap((part) => (part.type === 'function-call' ? [[part.callId, part.name]] : [])),
    )
    const inHistory = parts.flatMap((part) =>
      part.type === 'function-result' ? (part.name ?? names.get(part.callId) ?? 'a tool') : [],
    )
    return [...state.get(reads), ...inHistory, ...hostedIn(all)]
  })
  return [...new Set(found)]
}

function withParents(run: RunContext): readonly RunContext[] {
  return run.parent === undefined ? [run] : [run, ...withParents(run.parent)]
}

/** Returns the names of the hosted tools that have run in some messages. */
function hostedIn(messages: readonly Message[]): readonly string[] {
  return messages.flatMap(({ contents }) =>
    contents.flatMap((part) => (part.type === 'hosted' ? (part.name ?? 'a hosted tool') : [])),
  )
}
