import type { ChatClient, GetResponseOptions } from '../contract/chat.ts'
import type { RunContext } from '../contract/run.ts'
import type { ChatResponse, ChatResponseUpdate } from '../messages/chat-response.ts'
import type { MessageInput } from '../messages/message.ts'
import { toMessages } from '../messages/message.ts'
import { attachOutcome } from '../run/failed-outcome.ts'
import type { RunInit } from '../run/run.ts'
import { Run, drain } from '../run/run.ts'
import { ResponseStream } from '../stream/response-stream.ts'
import type { CallModel, ChatCallInput } from './chat-call.ts'
import { ChatCall } from './chat-call.ts'
import { PumpSource } from './run-source.ts'

/** Input of a model call without an agent, which is a run of its own. */
interface SingleCall
  extends ChatCallInput,
    Pick<GetResponseOptions, 'tenant' | 'principal' | 'data'> {
  /** Run that the call is made for. */
  readonly parent: RunContext | undefined
}

/** One model call through the middleware of `callModel`, without an agent around it. */
export function getResponse(
  client: ChatClient,
  callModel: CallModel,
  input: MessageInput,
  given: GetResponseOptions,
): Promise<ChatResponse> | ResponseStream<ChatResponseUpdate, ChatResponse> {
  checkPlaces(given)
  const { instructions, signal, parent, tenant, principal, data, stream, ...options } = given
  const about = { instructions, options, signal, parent, tenant, principal, data }
  const call = { client, messages: Object.freeze(toMessages(input)), ...about }
  return stream === true ? streamOnce(callModel, call) : callOnce(callModel, call)
}

/** @throws TypeError for an option that belongs to another place */
export function checkPlaces(given: GetResponseOptions): void {
  for (const name of Object.keys(misplaced)) {
    if (Object.hasOwn(given, name)) throw new TypeError(`getResponse: ${misplaced[name]}`)
  }
}

/** Makes one model call. */
export function callOnce(callModel: CallModel, input: SingleCall): Promise<ChatResponse> {
  return execute(callModel, input, makeRun(input, drain))
}

/** Streams one model call; it starts with the first pull. */
export function streamOnce(
  callModel: CallModel,
  input: SingleCall,
): ResponseStream<ChatResponseUpdate, ChatResponse> {
  const source = new PumpSource<ChatResponse>(
    (sink) => makeRun(input, sink),
    (run) => execute(callModel, input, run),
  )
  return new ResponseStream(source)
}

function makeRun(
  { parent, signal, tenant, principal, data = parent?.data }: SingleCall,
  sink: RunInit['sink'],
): Run {
  const { agentName, session } = parent ?? {}
  const owner = { tenant, principal, data }
  return new Run({ sink, signal, parent, agentName, session, ...owner, isGuest: true })
}

async function execute(
  callModel: CallModel,
  { signal: _ofRun, ...input }: SingleCall,
  run: Run,
): Promise<ChatResponse> {
  run.begin()
  try {
    const call = new ChatCall(run, input, callModel)
    return await run.unlessAborted(callModel(call), undefined, 0)
  } catch (error) {
    throw attachOutcome(error, run)
  } finally {
    run.release()
  }
}

const misplaced: Readonly<Record<string, string>> = {
  options: 'unknown option `options`; options of the model call stand beside the others here',
  middleware: 'unknown option `middleware`; wrap the client: `withMiddleware(client, middleware)`',
  session: 'unknown option `session`; only an `Agent` keeps one',
}
