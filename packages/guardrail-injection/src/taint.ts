import type {
  FunctionInvocationContext,
  FunctionMiddleware,
  GuardEvent,
  RunContext,
} from '@lamella/core'
import { defineState, errorResult } from '@lamella/core'
import type { LayerOptions } from '@lamella/core/authoring'
import { functionLayer, reporter } from '@lamella/core/authoring'

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
  readonly restrict?:
    | 'writes'
    | 'all'
    | ((context: FunctionInvocationContext) => boolean)
    | undefined
}

/** What a run that was tainted pauses with, as the payload of an interrupt. Answer `true` to allow the call. */
export interface TaintedCall {
  readonly type: 'tainted_call'
  readonly tool: string
  readonly callId: string
  readonly arguments: Readonly<Record<string, unknown>>
  /** The tools through which untrusted content came in. */
  readonly sources: readonly string[]
}

/** Makes the layer that keeps tools with side effects behind approval once untrusted content came in. */
export function taintRule(
  { untrusted = () => true, restrict = 'writes' }: TaintOptions,
  options: LayerOptions<FunctionInvocationContext, GuardEvent>,
): FunctionMiddleware {
  const isUntrusted =
    typeof untrusted === 'function' ? untrusted : (tool: string) => untrusted.includes(tool)
  const report = reporter('guardrail', options.onEvent)
  const isShadow = options.mode === 'shadow'

  function isRestricted(context: FunctionInvocationContext): boolean {
    if (typeof restrict === 'function') return restrict(context)
    return restrict === 'all' || !context.function.readOnly
  }

  return functionLayer('tool-policy', options, async (context, callNext) => {
    const {
      arguments: args,
      callId,
      function: { name: tool },
      run,
    } = context
    const sources = sourcesOf(run, isUntrusted)
    if (sources.length > 0 && isRestricted(context)) {
      const status = isShadow ? 'shadow' : 'flagged'
      const category = 'tainted-call'
      report(run, { guardrail: options.name ?? 'taint', stage: 'arguments', status, category })
      if (!isShadow) {
        const question: TaintedCall = {
          type: 'tainted_call',
          tool,
          callId,
          arguments: args,
          sources,
        }
        if ((await run.interrupt(question)) !== true) {
          context.result = errorResult('denied', 'the run has read untrusted content')
          return
        }
      }
    }
    await callNext()
    if (!isUntrusted(tool)) return
    run.state.update(reads, (known) => [
      ...known,
      { tool, runId: run.id, iteration: run.iteration },
    ])
  })
}

interface Read {
  readonly tool: string
  readonly runId: string
  readonly iteration: number
}

/** What a session has read. It outlives what a layer takes out of the conversation. */
const reads = defineState<readonly Read[]>({
  name: 'lamella.injection.untrusted-reads',
  scope: 'session',
  initial: () => [],
  schema: { type: 'array', items: { type: 'object' } },
})

/** The untrusted tools whose results the model had read when it asked for the call at hand. */
function sourcesOf(run: RunContext, isUntrusted: (tool: string) => boolean): readonly string[] {
  const isRead = ({ iteration, runId }: Read): boolean =>
    runId !== run.id || iteration < run.iteration
  const inHistory = run.messages.all.flatMap(({ contents }) =>
    contents.flatMap((part) => (part.type === 'function-result' ? (part.name ?? 'a tool') : [])),
  )
  return [
    ...new Set([
      ...run.state
        .get(reads)
        .filter(isRead)
        .map(({ tool }) => tool),
      ...inHistory.filter(isUntrusted),
    ]),
  ]
}
