import type { ChatPipeline } from './chat-call.ts'
import type { ChatClient, GetResponseOptions } from './chat-client.ts'
import type { ChatResponse, ChatResponseUpdate } from './chat-response.ts'
import type { MessageInput } from './message.ts'
import { toMessages } from './message.ts'
import { PumpSource } from './pump-source.ts'
import { ResponseStream } from './response-stream.ts'
import { Run } from './run.ts'
import { attachOutcome } from './run-outcome.ts'
import { withValue } from './structured-output.ts'
import { UpdateDrain } from './update-drain.ts'

/** One model call through the layers of `callModel`, without an agent around it. */
export function getResponse(
  client: ChatClient,
  callModel: ChatPipeline,
  input: MessageInput,
  { instructions, signal, parent, stream, ...options }: GetResponseOptions,
): Promise<ChatResponse> | ResponseStream<ChatResponseUpdate, ChatResponse> {
  const execute = async (run: Run): Promise<ChatResponse> => {
    run.begin()
    try {
      run.signal.throwIfAborted()
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
  const { agentName, session, data } = parent ?? {}
  const init = { signal, parent, agentName, session, data, isGuest: true }
  if (stream === true) {
    return new ResponseStream(new PumpSource((sink) => new Run({ ...init, sink }), execute))
  }
  return execute(new Run({ ...init, sink: new UpdateDrain() }))
}
