import { checkOptions, wrongOption } from '@lamella/core/authoring'
import type {
  AgentContext,
  AgentMiddleware,
  ChatContext,
  ChatMiddleware,
  FunctionMiddleware,
} from '@lamella/core'
import { agentMiddleware } from '@lamella/core'
import { functionGuardrail } from './function-guardrail.ts'
import type { GuardrailPlace } from './guardrail-check.ts'
import { Guardrail } from './guardrail-check.ts'
import type { GuardrailOptions } from './guardrail-options.ts'
import { guardrailRules } from './guardrail-options.ts'
import { holdBackGate } from './hold-back-gate.ts'
import { inputGuardrail } from './input-guardrail.ts'
import { outputGuardrail } from './output-guardrail.ts'
import type { GuardrailStage } from './verdict.ts'

/** Middleware of a guardrail at `Level`. */
export type GuardrailMiddleware<Level extends 'agent' | 'chat'> =
  | ChatMiddleware
  | FunctionMiddleware
  | ('agent' extends Level ? AgentMiddleware : never)

/**
 * Creates a guardrail from a check. It never reports unchecked content as passed: a check that fails or
 * exceeds `timeoutMs` blocks, unless `onError` is `'open'`. A block ends the run.
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { guardrail } from '@lamella/guardrail'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const noKeys = guardrail({
 *   name: 'no-keys',
 *   applyTo: ['output'],
 *   check: ({ text }) => ({ action: text.includes('sk-') ? 'block' : 'allow', category: 'key' }),
 * })
 * const agent = new Agent({ client: scriptedClient(['It is sk-1.']), middleware: noKeys })
 * console.log((await agent.run('Which key?')).status) // blocked
 * ```
 * @throws TypeError or RangeError that names the option and the value
 */
export function guardrail<Level extends 'agent' | 'chat' = 'agent' | 'chat'>(
  options: GuardrailOptions<Level>,
): readonly GuardrailMiddleware<Level>[] {
  checkGuardrail(options)
  const { applyTo, execution, level: given, maxRetries = 1, messages = 'new', mode } = options
  if (mode === 'off') return []
  const check = new Guardrail(options, options.readAs)
  const only = (...stages: GuardrailStage[]): readonly GuardrailStage[] =>
    stages.filter((stage) => applyTo.includes(stage))
  const isParallel = execution === 'parallel'
  const {
    pending,
    holdChars,
    release = pending || holdChars !== undefined ? 'window' : 'full',
  } = options.stream ?? {}
  const stream = { ...options.stream, release, readAs: check.readAs }

  const processAt = (level: 'agent' | 'chat') => {
    const inputs = (given ?? 'agent') === level ? only('input', 'instructions', 'file') : []
    const outputs = (given ?? 'chat') === level ? only('output', 'reasoning', 'file') : []
    if (inputs.length + outputs.length === 0) return undefined
    const roles = options.roles ?? (level === 'agent' ? ['user', 'assistant', 'tool'] : ['user'])
    const checkInput = inputGuardrail(check, { stages: inputs, messages, roles })
    const callGuarded = outputGuardrail(check, { stages: outputs, stream, maxRetries })
    // Nobody can be asked again for an answer that no model gave.
    const judgeAnswer = outputGuardrail(check, { stages: outputs, stream, maxRetries: 0 })

    const processAnswer = async (context: ChatContext, callNext: () => Promise<unknown>) => {
      const place: GuardrailPlace = {
        level,
        middleware: context,
        side: 'output',
        replaced: 'replaced',
      }
      if (await check.applies(place, outputs[0]!)) await judgeAnswer(context, place, callNext)
      else await callNext()
    }

    const process = async (
      context: AgentContext | ChatContext,
      callNext: () => Promise<unknown>,
    ) => {
      const place: GuardrailPlace = {
        level,
        middleware: context,
        side: 'input',
        // The model has already started.
        replaced: isParallel ? 'blocked' : 'replaced',
      }
      if (!(await check.applies(place, inputs[0] ?? outputs[0]!))) {
        await callNext()
        return
      }
      let verdict: Promise<void> | undefined
      if (inputs.length > 0) {
        verdict = checkInput(context, place)
        if (level === 'agent') {
          context.run.gateInput(async (more) => {
            const joined = { run: context.run, instructions: undefined, messages: more }
            await checkInput(joined, { ...place, replaced: 'replaced' })
            return joined.messages
          })
        }
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
    return { process, ...(outputs.length > 0 && { processAnswer }) }
  }

  const middlewares: (AgentMiddleware | ChatMiddleware | FunctionMiddleware)[] = []
  const atAgent = processAt('agent')
  const atChat = processAt('chat')
  if (atAgent) middlewares.push(agentMiddleware(check.name, atAgent.process))
  if (atChat) middlewares.push({ level: 'chat', name: check.name, ...atChat })
  const calls = only('arguments', 'result', 'file', 'input')
  if (calls.length > 0) middlewares.push(functionGuardrail(check, calls))
  const { role } = options
  return middlewares.map((middleware) => ({
    ...middleware,
    role,
    inherited: true,
  })) as GuardrailMiddleware<Level>[]
}

const noFindings = (): undefined => undefined
const stageNames = ['input', 'output', 'arguments', 'result', 'instructions', 'reasoning', 'file']

function checkGuardrail(options: GuardrailOptions): void {
  checkOptions('guardrail', options, guardrailRules)
  const stages: readonly unknown[] = options.applyTo?.length > 0 ? options.applyTo : [null]
  if (!Array.isArray(stages)) throw wrongOption('guardrail', 'applyTo', 'a list of stages', stages)
  for (const applyTo of stages) checkOptions('guardrail', { applyTo }, { applyTo: stageNames })
}
