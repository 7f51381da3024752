import type { ChatPipeline } from './chat-call.ts'
import type { ChatClient, GetResponseOptions } from './chat-client.ts'
import type { ChatResponse, ChatResponseUpdate } from './chat-response.ts'
import type { MessageInput } from './message.ts'
import { toMessages } from './message.ts'
import { PumpSource } from './pump-source.ts'
import { ResponseStream } from './response-stream.ts'
import type { RunInit } from './run-init.ts'
import { Run } from './run.ts'
import { attachOutcome } from './run-outcome.ts'
import { withValue } from './structured-output.ts'
import { drain } from './update-drain.ts'

/** One model call through the layers of `callModel`, without an agent around it. */
export function getResponse(
  client: ChatClient,
  callModel: ChatPipeline,
  input: MessageInput,
  given: GetResponseOptions,
): Promise<ChatResponse> | ResponseStream<ChatResponseUpdate, ChatResponse> {
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
