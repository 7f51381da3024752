import type { AgentContext } from './agent-context.ts'
import type { ChatContext } from './chat-context.ts'
import { functionGuard } from './function-guard.ts'
import type { GuardOptions, GuardPlace } from './guard.ts'
import { Guard } from './guard.ts'
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
  checkOptions(options)
  if (options.mode === 'off') return []
  const stages = new Set(options.applyTo)
  const guard = new Guard(options)
  const layers: (AgentMiddleware | ChatMiddleware | FunctionMiddleware)[] = []
  for (const level of ['agent', 'chat'] as const) {
    const inputs =
      (options.level ?? 'agent') === level ? only(stages, 'input', 'instructions', 'file') : none
    const outputs =
      (options.level ?? 'chat') === level ? only(stages, 'output', 'reasoning', 'file') : none
    if (inputs.size === 0 && outputs.size === 0) continue
    const process = contentLayer(guard, options, level, inputs, outputs)
    layers.push(
      level === 'agent'
        ? agentMiddleware(guard.name, process)
        : chatMiddleware(guard.name, process),
    )
  }
  const calls = only(stages, 'arguments', 'result', 'file')
  if (calls.size > 0) layers.push(functionGuard(guard, calls))
  return layers as GuardrailLayer<Level>[]
}

function contentLayer(
  guard: Guard,
  options: GuardrailOptions,
  level: 'agent' | 'chat',
  inputs: ReadonlySet<GuardStage>,
  outputs: ReadonlySet<GuardStage>,
): (context: AgentContext | ChatContext, callNext: () => Promise<unknown>) => Promise<void> {
  const isParallel = options.execution === 'parallel'
  const roles = options.roles ?? (level === 'agent' ? ['user', 'assistant', 'tool'] : ['user'])
  const checkInput = inputGuard(guard, {
    stages: inputs,
    messages: options.messages ?? 'new',
    roles,
    isReadOnly: isParallel,
  })
  const { stream = {} } = options
  const hasWindow = stream.pending !== undefined || stream.holdChars !== undefined
  const callGuarded = outputGuard(guard, {
    stages: outputs,
    stream: { ...stream, release: stream.release ?? (hasWindow ? 'window' : 'full') },
    maxRetries: options.maxRetries ?? 1,
  })

  return async (context, callNext) => {
    const place: GuardPlace = { level, layer: context, side: 'input' }
    const first: GuardStage = inputs.size > 0 ? 'input' : 'output'
    if (!(await guard.applies(place, first))) {
      await callNext()
      return
    }
    let verdict: Promise<void> | undefined
    if (inputs.size > 0) {
      verdict = checkInput(context, place)
      if (isParallel) {
        context.run.holdTools(verdict)
        context.transformUpdates(
          holdBackGate({
            release: 'passthrough',
            parts: [],
            scan: () => undefined,
            until: verdict,
          }),
        )
      } else {
        await verdict
      }
    }
    if (outputs.size > 0) await callGuarded(context, { ...place, side: 'output' }, callNext)
    else await callNext()
    await verdict
  }
}

const none: ReadonlySet<GuardStage> = new Set()
const policies: readonly unknown[] = ['passthrough', 'window', 'sentence', 'full']
const stageNames: readonly unknown[] = [
  'input',
  'output',
  'arguments',
  'result',
  'instructions',
  'reasoning',
  'file',
]

function only(
  stages: ReadonlySet<GuardStage>,
  ...of: readonly GuardStage[]
): ReadonlySet<GuardStage> {
  return new Set(of.filter((stage) => stages.has(stage)))
}

function checkOptions(options: GuardrailOptions): void {
  const { name, check, applyTo, stream = {} } = options
  const demand = (isRight: boolean, option: string, rule: string, value: unknown): void => {
    if (isRight) return
    const kind = typeof value === 'number' ? RangeError : TypeError
    throw new kind(
      `guardrail: \`${option}\` must be ${rule}, got ${JSON.stringify(value) ?? typeof value}`,
    )
  }
  const demandOneOf = (option: string, value: unknown, allowed: readonly unknown[]): void =>
    demand(
      value === undefined || allowed.includes(value),
      option,
      `one of ${allowed.join(', ')}`,
      value,
    )
  const demandCount = (option: string, value: number | undefined, least: number): void =>
    demand(
      value === undefined || (Number.isInteger(value) && value >= least),
      option,
      `a whole number from ${least} up`,
      value,
    )

  demand(typeof name === 'string' && name !== '', 'name', 'a string that is not empty', name)
  demand(typeof check === 'function', 'check', 'a function', check)
  demand(
    Array.isArray(applyTo) && applyTo.length > 0,
    'applyTo',
    'a list that is not empty',
    applyTo,
  )
  for (const stage of applyTo) demandOneOf('applyTo', stage, stageNames)
  demandOneOf('level', options.level, ['agent', 'chat'])
  demandOneOf('messages', options.messages, ['new', 'last-user', 'all'])
  demandOneOf('mode', options.mode, ['enforce', 'shadow', 'off'])
  demandOneOf('onError', options.onError, ['closed', 'open'])
  demandOneOf('unsupported', options.unsupported, ['block', 'allow'])
  demandOneOf('execution', options.execution, ['serial', 'parallel'])
  demandOneOf('stream.release', stream.release, policies)
  demandCount('stream.holdChars', stream.holdChars, 0)
  demandCount('stream.checkEveryChars', stream.checkEveryChars, 1)
  demandCount('maxRetries', options.maxRetries, 0)
  demandCount('timeoutMs', options.timeoutMs, 1)
}
