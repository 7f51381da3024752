import type { ChatMiddleware, FunctionMiddleware, RunContext } from '@lamella/core'
import type { RunPlan } from '@lamella/core/authoring'
import {
  checkOptions,
  defineChatMiddleware,
  defineFunctionMiddleware,
  wrongOption,
} from '@lamella/core/authoring'
import type { DurableEngine } from './durable-engine.ts'
import { modelStep, toolStep } from './durable-step.ts'
import { places } from './place.ts'
import type { FindTool } from './tool-changes.ts'

/** Options of `durable`. */
export interface DurableOptions extends DurableEngine {
  /**
   * Name, unique among the middleware of its level.
   * @default 'durable'
   */
  readonly name?: string | undefined
  /**
   * Makes each model call a step.
   * @default true
   */
  readonly models?: boolean | undefined
  /**
   * Makes calls of all tools steps, or of the tools with these names. A sub-agent has steps of its own.
   * @default 'all'
   */
  readonly tools?: 'all' | readonly string[] | undefined
}

/**
 * Runs each model call and each tool call as a step of a durable engine. Middleware further inside is part of the
 * step, and does not run where a step is restored. Sub-agents have it too. `runDurably` uses it, waits for answers
 * in the engine, and makes ids and times equal in every pass.
 * @throws TypeError that names the option and the value
 * @example
 * ```ts
 * import { Agent } from '@lamella/core'
 * import { durable } from '@lamella/durable'
 * import { scriptedClient } from '@lamella/testing'
 *
 * const stored = new Map<string, unknown>()
 * const step = async <Value>(name: string, work: () => Promise<Value>): Promise<Value> => {
 *   if (!stored.has(name)) stored.set(name, await work())
 *   return stored.get(name) as Value
 * }
 * const client = scriptedClient(['Hello.'])
 * const agent = new Agent({ client, middleware: durable({ id: 'greeting-1', step }) })
 * await agent.run('Hi.')
 * console.log((await agent.run('Hi.')).text, client.requests.length) // Hello. 1
 * ```
 */
export function durable(options: DurableOptions): readonly (ChatMiddleware | FunctionMiddleware)[] {
  return durableIn(options, (_, work) => work())
}

/** The same. `redo` runs a call anew that has ended without a result in an earlier pass. */
export function durableIn(
  options: DurableOptions,
  redo: DurableEngine['step'],
  findTool: FindTool = () => undefined,
): readonly (ChatMiddleware | FunctionMiddleware)[] {
  check(options)
  const { name: own = 'durable', models = true, tools = 'all', id, step } = options
  const { process = `process ${globalThis.process?.pid}` } = options
  const steps = { step, redo, process, findTool }
  const placeOf = places()
  const atModelCalls: ChatMiddleware['process'] = (context, callNext) => {
    const { isInStep, path, inStep } = placeOf(context.run)
    if (!models || isInStep) return callNext()
    context.options = { ...context.options, transportRetries: 0 }
    const name = `${path}model ${context.iteration}`
    return inStep(() => modelStep(steps, name, context, callNext))
  }
  const atToolCalls: FunctionMiddleware['process'] = (context, callNext) => {
    const { run, callId, metadata } = context
    const { name: tool, resumable } = context.function
    const { isInStep, path, turns, inStep, enter } = placeOf(run)
    const call = `${tool} ${callId}`
    metadata['idempotencyKey'] ??= `${id ?? outermost(run).id}/${path}${call}`
    if (isInStep) return callNext()
    if (resumable === true) return turns.alone(() => enter(`${path}${call}/`, callNext))
    const isStep = tools === 'all' || tools.includes(tool)
    const work = isStep ? () => toolStep(steps, `${path}tool ${call}`, context, callNext) : callNext
    return turns.beside<unknown>(() => inStep<unknown>(work))
  }
  const chat = defineChatMiddleware('durable', { name: own }, atModelCalls)
  const atFunction = defineFunctionMiddleware('durable', { name: own }, atToolCalls)
  return [
    { ...chat, inherited: true, review: ({ roles }) => besideRetry(own, roles) },
    { ...atFunction, inherited: true },
  ]
}

function besideRetry(name: string, roles: RunPlan['roles']): readonly string[] {
  return roles.includes('retry')
    ? [`${name}: the engine retries its steps, and retry() the calls within each of these tries`]
    : []
}

function outermost(run: RunContext): RunContext {
  return run.parent === undefined ? run : outermost(run.parent)
}

function check(options: DurableOptions): void {
  checkOptions('durable', options, {
    name: 'string?',
    id: 'string?',
    process: 'string?',
    step: 'function',
    sleep: 'function?',
    wait: 'function?',
    models: [true, false],
    tools: 'any',
  })
  const { tools } = options
  const isList = Array.isArray(tools) && tools.every((tool) => typeof tool === 'string')
  if (tools !== undefined && tools !== 'all' && !isList) {
    throw wrongOption('durable', 'tools', "'all' or a list of names of tools", tools)
  }
}
