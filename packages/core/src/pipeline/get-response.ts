import type { ChatClient, GetResponseOptions } from '../contract/chat.ts'
import type { ChatResponse, ChatResponseUpdate } from '../messages/chat-response.ts'
import type { MessageInput } from '../messages/message.ts'
import { toMessages } from '../messages/message.ts'
import { attachOutcome } from '../run/failed-outcome.ts'
import type { RunInit } from '../run/run.ts'
import { Run, drain } from '../run/run.ts'
import { ResponseStream } from '../stream/response-stream.ts'
import type { ChatPipeline } from './chat-call.ts'
import { PumpSource } from './run-source.ts'
import { withValue } from './structured-output.ts'

/** One model call through the middlewares of `callModel`, without an agent around it. */
export function getResponse(
  client: ChatClient,
  callModel: ChatPipeline,
  input: MessageInput,
  given: GetResponseOptions,
): Promise<ChatResponse> | ResponseStream<ChatResponseUpdate, ChatResponse> {
  for (const name of ['options', 'middleware', 'session']) {
    if (Object.hasOwn(given, name)) throw new TypeError(`getResponse: ${misplaced[name]}`)
  }
  const { instructions, signal, parent, stream, ...options } = given
  const execute = async (run: Run): Promise<ChatResponse> => {
    run.begin()
    try {
      run.throwIfAborted()
      const messages = toMessages(input)
      const response = await callModel(run, { client, messages, instructions, options })
      const { responseFormat } = options
      return responseFormat === undefined ? response : await withValue(response, responseFormat)
    } catch (error) {
      throw attachOutcome(error, run)
    } finally {
      run.release()
    }
  }
  const makeRun = (sink: RunInit['sink']): Run => {
    const { agentName, session, data } = parent ?? {}
    return new Run({ sink, signal, parent, agentName, session, data, isGuest: true })
  }
  return stream === true
    ? new ResponseStream(new PumpSource(makeRun, execute))
    : execute(makeRun(drain))
}

const misplaced: Readonly<Record<string, string>> = {
  options: 'unknown option `options`; options of the model call stand beside the others here',
  middleware: 'unknown option `middleware`; wrap the client: `withMiddleware(client, middleware)`',
  session: 'unknown option `session`; only an `Agent` keeps one',
}
