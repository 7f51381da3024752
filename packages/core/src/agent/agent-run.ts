import type { IdSource } from '../base/create-id.ts'
import { idsFrom, platformIds } from '../base/create-id.ts'
import { LamellaError } from '../base/lamella-error.ts'
import { none } from '../base/none.ts'
import type { ChatOptions } from '../contract/chat-options.ts'
import { checkInstructions, mergeChatOptions } from '../contract/chat-options.ts'
import type { FunctionInvocationConfiguration, LoopConfiguration } from '../contract/limits.ts'
import type {
  AgentResponse,
  AgentResponseUpdate,
  Checkpoint,
  PendingRequest,
} from '../contract/outcome.ts'
import { runLoop } from '../loop/function-loop.ts'
import { settleCalls } from '../loop/transcript.ts'
import { loopConfiguration } from '../loop/limits.ts'
import { contentFields } from '../messages/chat-response.ts'
import type { Message, MessageInput } from '../messages/message.ts'
import { toMessages } from '../messages/message.ts'
import type { RunContext } from '../contract/run.ts'
import { checkAuthority } from '../messages/check-authority.ts'
import { hostedAnswers, recordAnswers } from '../pausing/approvals.ts'
import { checkOwner, checkpointState, plain } from '../pausing/checkpoint.ts'
import type { Claims } from '../pausing/claims.ts'
import { composeModelCall } from '../pipeline/model-call.ts'
import { compose } from '../pipeline/compose.ts'
import { composeToolCall } from '../pipeline/tool-call.ts'
import { unheard, withOwnIds } from '../pipeline/own-ids.ts'
import { PumpSource } from '../pipeline/run-source.ts'
import {
  checkPlaces,
  checkStoreNeeds,
  holdsOnly,
  inheritedBy,
  sortMiddlewares,
} from '../pipeline/sort-middleware.ts'
import { withValue } from '../pipeline/structured-output.ts'
import { attachOutcome, outcomeOf } from '../run/failed-outcome.ts'
import { LiveTools } from '../run/live-tools.ts'
import type { RunInit } from '../run/run.ts'
import { Run, drain, engineOf } from '../run/run.ts'
import { ResponseStream } from '../stream/response-stream.ts'
import type { Pipelines, RunPlan, RunnableAgent } from './agent-call.ts'
import { AgentCall, AgentView } from './agent-call.ts'
import type { RunOptions } from './agent-options.ts'
import { hintsElsewhere, runOptionNames } from './agent-options.ts'
import { checkNames, checkTimeLimit, checkValue, wrongOption } from '../base/check-options.ts'
import { isObject } from '../base/plain-data.ts'
import type { Session, SessionTurn } from '../messages/session.ts'
import { claimRequests } from './claim-requests.ts'
import { checkLateEdit, closeRun, keepDone, stoppedEarly } from './close-run.ts'
import { recover } from './recover.ts'
import { runOnce } from './run-once.ts'
import { enterSession } from './session-turn.ts'

type Started = Promise<AgentResponse> | ResponseStream<AgentResponseUpdate, AgentResponse>

export function startRun(
  agent: RunnableAgent,
  input: MessageInput,
  options: RunPlan['options'],
  inside?: RunPlan['inside'],
): Started {
  const ids = idsOf(agent, options?.parent)
  return start(agent, options, toMessages(input, 'user', ids), ids, undefined, inside)
}

export function resumeRun(
  agent: RunnableAgent,
  checkpoint: Checkpoint,
  answers: Readonly<Record<string, unknown>>,
  options: RunPlan['options'],
): Started {
  checkpointState(checkpoint, options?.session)
  const ids = idsOf(agent, options?.parent)
  return start(agent, { ...options, answers }, none, ids, checkpoint)
}

/**
 * Composes middleware of all scopes, outermost first: inherited ones, the client's, the agent's, the run's. The
 * lists are read for each run; the pipelines are reused while the lists are the same and the run
 * adds none.
 */
export function pipelinesOf(
  agent: RunnableAgent,
  { middleware = none, parent }: RunOptions,
): Pipelines {
  const store = agent.store ?? parent?.store
  const own = [agent.client.middleware, agent.middleware, middleware]
  const lists = parent ? [inheritedBy(own, engineOf(parent).middlewares), own] : own
  const { last } = agent.composed
  if (last?.store === store && last !== undefined && holdsOnly(lists, last.middlewares.all))
    return last
  const middlewares = sortMiddlewares(lists, 'agent')
  checkStoreNeeds(store, middlewares.all)
  checkPlaces(middlewares.chat)
  const pipelines = {
    middlewares,
    store,
    runMiddlewares: compose<AgentView, AgentResponse>(middlewares.agent, runInside, recover),
    callModel: composeModelCall(middlewares.chat),
    callFunction: composeToolCall(middlewares.function),
  }
  // Nothing that a run adds outlives it.
  if (middleware === none) agent.composed.last = pipelines
  return pipelines
}

export function configurationOf(
  agent: RunnableAgent,
  options: { readonly functionInvocation?: FunctionInvocationConfiguration | undefined },
): LoopConfiguration {
  const { functionInvocation } = options
  if (functionInvocation === undefined) return agent.settings
  return loopConfiguration({ ...agent.settings, ...functionInvocation })
}

/** Ids come from the random numbers of the agent, or of the run that this one is part of. */
function idsOf({ random }: RunnableAgent, parent: RunContext | undefined): IdSource {
  if (random !== undefined) return idsFrom(random)
  return parent === undefined ? platformIds : engineOf(parent).ids
}

function start(
  agent: RunnableAgent,
  options: RunPlan['options'],
  messages: readonly Message[],
  ids: IdSource,
  checkpoint?: Checkpoint,
  inside?: RunPlan['inside'],
): Started {
  checkNames('run', options, runOptionNames, hintsElsewhere)
  checkTimeLimit('run', 'sessionWaitMs', options.sessionWaitMs, '0 or more')
  const { keep = 'effects', onBlock = 'return', session, stream = false } = options
  const isSession = session === undefined || isObject(session)
  checkValue(isSession, 'run: `session`', 'be a session, such as `sessions(store).at(id)`', session)
  if (typeof stream !== 'boolean') throw wrongOption('run', 'stream', 'true or false', stream)
  if (!['effects', 'all', 'nothing'].includes(keep))
    throw wrongOption('run', 'keep', 'one of effects, all, nothing', keep)
  if (!['return', 'throw'].includes(onBlock))
    throw wrongOption('run', 'onBlock', 'one of return, throw', onBlock)
  const config = configurationOf(agent, options)
  const pipelines = pipelinesOf(agent, options)
  const of: RunPlan = { agent, messages, options, config, pipelines, checkpoint, inside }
  if (!stream) return execute(of, makeRun(of, ids, drain))
  return new ResponseStream(
    new PumpSource(
      (sink) => makeRun(of, ids, sink),
      (run) => execute(of, run),
    ),
  )
}

/** A run inside another one with the same key is a part of it. */
function execute(of: RunPlan, run: Run): Promise<AgentResponse> {
  const { idempotencyKey: key, parent } = of.options
  const isPart = key === undefined || (parent && engineOf(parent).claimKey) === key
  return isPart ? executeRun(of, run) : runOnce(of, run, key, executeRun)
}

function makeRun(
  { agent, messages, options, pipelines }: RunPlan,
  ids: IdSource,
  sink: RunInit['sink'],
): Run {
  const init: RunInit = {
    middlewares: pipelines.middlewares.all,
    sink,
    input: messages,
    fallbackText: agent.fallbackText,
    id: options.runId,
    agentName: agent.name,
    store: agent.store,
    storeTimeoutMs: agent.storeTimeoutMs,
    signer: agent.sign,
    clock: agent.clock,
    random: agent.random,
    ids,
  }
  return new Run(init, options)
}

async function executeRun(of: RunPlan, run: Run): Promise<AgentResponse> {
  const { agent, options } = of
  run.begin()
  const call = new AgentCall(run, of)
  let claims: Claims | undefined
  let turn: SessionTurn | undefined
  try {
    run.throwIfAborted()
    if (options.session !== undefined) {
      turn = await enterSession(options.session, run, options.sessionWaitMs)
    }
    const session = turn?.session
    const history = session?.messages ?? none
    const checkpoint = of.checkpoint ?? pausedRun(of, session)
    if (checkpoint !== undefined) {
      await run.unlessAborted(agent.sign.check(checkpoint))
      checkOwner(checkpoint, run)
      run.restore(checkpoint.journal)
    }
    run.open(session, run.input)
    if (checkpoint === undefined) {
      checkAuthority(of.messages)
      const { answers } = options
      const input = answers ? [...of.messages, ...hostedAnswers(run, answers)] : of.messages
      run.acceptInput(Object.freeze(withOwnIds(unheard(input, history), history, run.ids)))
    } else run.acceptInput(Object.freeze([...(run.journal.early?.messages ?? checkpoint.input)]))
    if (checkpoint !== undefined || options.answers !== undefined || run.keepsSteps) {
      claims = await claimRequests(of, run)
    }
    const chatOptions = mergeChatOptions(agent.options, options.options)
    const tools = run.useTools(toolsOf(of, chatOptions)).visible
    call.responseFormat = chatOptions.responseFormat
    const inputs = {
      messages: run.input,
      session,
      instructions: joinInstructions(agent.instructions, options.instructions),
      options: Object.freeze({ ...chatOptions, ...(tools.length > 0 && { tools }) }),
      tools,
    }
    call.given = inputs
    const view = new AgentView(call, 0, inputs, undefined)
    let response = await run.unlessAborted(of.pipelines.runMiddlewares(view), undefined, 0)
    run.throwIfAborted()
    checkLateEdit(of.pipelines.middlewares.agent, run, response)
    const ended =
      run.stopped === undefined
        ? response
        : await stoppedEarly(call, response).catch((error: unknown) => recover(view, error))
    if (ended !== response) response = await run.unlessAborted(withValue(ended, call.format))
    if (claims !== undefined) await claims.settle(response.status)
    const closing = closeRun(call, response)
    const closed = 'then' in closing ? await closing : closing
    await of.keep?.({ ending: plain(closed), session, before: history.map(({ id }) => id) })
    const leaving = turn?.leave()
    turn = undefined
    await leaving
    return closed
  } catch (error) {
    await claims?.settle(LamellaError.is(error, 'guardrail_tripped') ? 'blocked' : undefined)
    settleCalls(run, error)
    const failure = attachOutcome(error, run, call.hasTransformers(Infinity))
    keepDone(call, outcomeOf(failure))
    // An abort does not wait for the store.
    const leaving = turn?.leave().catch(() => {})
    if (!run.aborted) await leaving
    throw failure
  } finally {
    run.release()
  }
}

/** The run of the session that one of the answers continues, since it answers an interrupt. */
function pausedRun(
  { messages, options }: RunPlan,
  session: Session | undefined,
): Checkpoint | undefined {
  if (session?.paused === undefined) return undefined
  const { answers = {} } = options
  const paused = session.paused as Checkpoint
  const isAnswered = ({ kind, id }: PendingRequest): boolean =>
    kind === 'interrupt' && Object.hasOwn(answers, id)
  if (!checkpointState(paused, session).pending.some(isAnswered)) return undefined
  if (messages.length === 0) return paused
  throw new TypeError('run: an answer to an interrupt continues its run without input; pass `[]`')
}

/** Innermost handler of a run: reads the context, then runs the loop. */
function runInside(view: AgentView): void | Promise<void> {
  const { call } = view
  const { run } = call
  ;(view.ownSignal ?? run).throwIfAborted()
  if (call.paused !== undefined) return call.applyTransforms(call.paused, Infinity)
  prepareRun(view)
  const { end } = run.journal
  if (end !== undefined) {
    const messages = [...run.messages.added]
    run.progress.leaveLoop(view.depth)
    return call.applyTransforms({ ...end.response, messages, ...contentFields(messages) }, Infinity)
  }
  call.begin()
  for (const { id: messageId, ...rest } of run.messages.added) run.sink.push({ ...rest, messageId })
  const { inside = callTools } = call.plan
  return call.finishLoop(inside(view), view.depth)
}

/** Sets the run's tools, conversation and decisions from the innermost context. */
function prepareRun(view: AgentView): void {
  const { call, inputs } = view
  const { session, messages, options } = inputs
  const { run, plan } = call
  const { agent, options: runOptions } = plan
  const { journal } = run
  const { state } = journal
  const isFirst = !journal.entered
  call.applyTools(inputs)
  if (state?.tools !== undefined && isFirst) run.tools.restore(state.tools, run)
  const history = session?.messages ?? none
  call.history = history
  run.progress.enterLoop(() => ({ messages: [...history, ...messages], ...view.changed }))
  // What was changed before a pause holds. Between two runs of the inside, it may change again.
  const { begun } = journal
  if (begun !== undefined) view.repeat(isFirst ? begun : { ...begun, ...view.changed })
  if (isFirst && state === undefined && runOptions.answers !== undefined)
    recordAnswers(run, runOptions.answers, agent.approvals)
  call.responseFormat = options.responseFormat ?? call.responseFormat
}

function callTools({ call, inputs, ownSignal }: AgentView): Promise<AgentResponse> {
  const { instructions, options } = inputs
  const { agent, config, pipelines } = call.plan
  return runLoop(call.run, {
    client: agent.client,
    instructions,
    options,
    config,
    signal: ownSignal,
    approvals: agent.approvals,
    callModel: pipelines.callModel,
    callFunction: pipelines.callFunction,
  })
}

/** Tools of a run: the agent's, the run's, and those of the model options. */
function toolsOf({ agent, options, config }: RunPlan, { tools: more }: ChatOptions): LiveTools {
  const own = agent.tools
  const { tools } = options
  const all =
    tools === undefined && more === undefined
      ? own
      : [...own, ...(tools ?? none), ...(more ?? none)]
  return new LiveTools(all, config.additionalTools)
}

/** Instructions of the agent, followed by those of the run. */
function joinInstructions(base: string | undefined, more: string | undefined): string | undefined {
  checkInstructions(more)
  if (base === undefined || more === undefined || base === more) return more ?? base
  return `${base}\n${more}`
}
