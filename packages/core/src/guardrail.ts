import type { AgentContext } from './agent-context.ts'
import type { ChatContext } from './chat-context.ts'
import { checkOptions } from './check-options.ts'
import { functionGuard } from './function-guard.ts'
import type { GuardOptions, GuardPlace } from './guard.ts'
import { Guard } from './guard.ts'
import { guardrailRules } from './guard-rules.ts'
import type { ReleasePolicy } from './held-text.ts'
import { holdBackGate } from './hold-back-gate.ts'
import { inputGuard } from './input-guard.ts'
import type { Role } from './message.ts'
import type { AgentMiddleware, ChatMiddleware, FunctionMiddleware } from './middleware.ts'
import { agentMiddleware, chatMiddleware } from './middleware.ts'
import { outputGuard } from './output-guard.ts'
import type { GuardStage } from './verdict.ts'

/** How text is held back while it is checked. */
export interface GuardrailStreamOptions {
  /**
   * What leaves before all is checked. A guard that asks for a `retry` needs `full`.
   * @default 'window' with `pending` or `holdChars`, otherwise 'full'
   */
  readonly release?: ReleasePolicy | undefined
  /** The length of the longest match. @default 256, and 0 for `sentence` */
  readonly holdChars?: number | undefined
  /**
   * Characters between two checks; with `sentence`, whole sentences of at least so many.
   * @default each update, for `sentence` each sentence, for `full` only at the end
   */
  readonly checkEveryChars?: number | undefined
  /** The index from which on the text may still be the start of a match. */
  readonly pending?: ((text: string, from: number) => number) | undefined
}

export interface GuardrailOptions<Level extends 'agent' | 'chat' = 'agent' | 'chat'>
  extends GuardOptions {
  /** What kind of guard it is, such as `pii`: `explain` knows the places of the known ones. */
  readonly role?: string | undefined
  /** What is checked. */
  readonly applyTo: readonly GuardStage[]
  /**
   * Where input and output are checked: once for the run, or around every model call.
   * @default 'agent' for input and instructions, 'chat' for output and reasoning
   */
  readonly level?: Level | undefined
  /**
   * Which messages: those that this run has not checked, the last one of the user, or all, each time.
   * @default 'new'
   */
  readonly messages?: 'new' | 'last-user' | 'all' | undefined
  /**
   * Whose messages are input. Those of the role system are instructions.
   * @default ['user', 'assistant', 'tool'] at agent level, ['user'] at chat level
   */
  readonly roles?: readonly Exclude<Role, 'system'>[] | undefined
  readonly stream?: GuardrailStreamOptions | undefined
  /**
   * `parallel` checks input while the model answers; nothing is released and no tool runs before
   * the verdict. What is to be replaced is then blocked.
   * @default 'serial'
   */
  readonly execution?: 'serial' | 'parallel' | undefined
  /**
   * How often a `retry` verdict on output asks the model again; beyond it, the verdict blocks.
   * @default 1
   */
  readonly maxRetries?: number | undefined
}

/** The layers of a guard that works at `Level`. */
export type GuardrailLayer<Level extends 'agent' | 'chat'> =
  | ChatMiddleware
  | FunctionMiddleware
  | ('agent' extends Level ? AgentMiddleware : never)

/**
 * Makes a guard from a check. It never reports as passed what it did not check: a check that fails
 * or takes too long blocks, unless `onError` is `'open'`; a block ends the run.
 * @throws TypeError or RangeError that names the option and the value
 */
export function guardrail<Level extends 'agent' | 'chat' = 'agent' | 'chat'>(
  options: GuardrailOptions<Level>,
): readonly GuardrailLayer<Level>[] {
  checkGuardrail(options)
  const { applyTo, execution, level: given, maxRetries = 1, messages = 'new', mode } = options
  if (mode === 'off') return []
  const guard = new Guard(options)
  const only = (...stages: GuardStage[]): readonly GuardStage[] =>
    stages.filter((stage) => applyTo.includes(stage))
  const isParallel = execution === 'parallel'
  const {
    pending,
    holdChars,
    release = pending || holdChars !== undefined ? 'window' : 'full',
  } = options.stream ?? {}
  const stream = { ...options.stream, release }

  const processAt = (level: 'agent' | 'chat') => {
    const inputs = (given ?? 'agent') === level ? only('input', 'instructions', 'file') : []
    const outputs = (given ?? 'chat') === level ? only('output', 'reasoning', 'file') : []
    if (inputs.length + outputs.length === 0) return undefined
    const roles = options.roles ?? (level === 'agent' ? ['user', 'assistant', 'tool'] : ['user'])
    const checkInput = inputGuard(guard, { stages: inputs, messages, roles })
    const callGuarded = outputGuard(guard, { stages: outputs, stream, maxRetries })

    return async (context: AgentContext | ChatContext, callNext: () => Promise<unknown>) => {
      const place: GuardPlace = {
        level,
        layer: context,
        side: 'input',
        // The model is reading already.
        replaced: isParallel ? 'blocked' : 'replaced',
      }
      if (!(await guard.applies(place, inputs[0] ?? outputs[0]!))) {
        await callNext()
        return
      }
      let verdict: Promise<void> | undefined
      if (inputs.length > 0) {
        verdict = checkInput(context, place)
        if (isParallel) {
          context.run.holdTools(verdict)
          context.transformUpdates(
            holdBackGate({ release: 'passthrough', parts: [], scan: noFindings, until: verdict }),
          )
        } else await verdict
      }
      if (outputs.length === 0) await callNext()
      else await callGuarded(context, { ...place, side: 'output', replaced: 'replaced' }, callNext)
      await verdict
    }
  }

  const layers: (AgentMiddleware | ChatMiddleware | FunctionMiddleware)[] = []
  const atAgent = processAt('agent')
  const atChat = processAt('chat')
  if (atAgent) layers.push(agentMiddleware(guard.name, atAgent))
  if (atChat) layers.push(chatMiddleware(guard.name, atChat))
  const calls = only('arguments', 'result', 'file')
  if (calls.length > 0) layers.push(functionGuard(guard, calls))
  const { role } = options
  return layers.map((layer) =>
    role === undefined ? layer : { ...layer, role },
  ) as GuardrailLayer<Level>[]
}

const noFindings = (): undefined => undefined

const stageNames = ['input', 'output', 'arguments', 'result', 'instructions', 'reasoning', 'file']

function checkGuardrail(options: GuardrailOptions): void {
  checkOptions('guardrail', options, guardrailRules)
  const stages: readonly unknown[] = options.applyTo?.length > 0 ? options.applyTo : [null]
  for (const applyTo of stages) checkOptions('guardrail', { applyTo }, { applyTo: stageNames })
}
