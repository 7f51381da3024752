// A provider's author writes respond() and stream(). chatPipeline() runs the client's middleware around both, so that
// getResponse() works as that of every other client, and withFunctionInvocation() adds the tool loop.
import assert from 'node:assert/strict'
import type { ChatClient, ChatMiddleware, ChatRequest } from '@lamella/core'
import type { ChatResponse, GetResponseOptions, MessageInput } from '@lamella/core'
import { chatMiddleware, chatResponse, toUpdates } from '@lamella/core'
import { message, messageText, tool, withFunctionInvocation } from '@lamella/core'
import { chatPipeline } from '@lamella/core/authoring'

/** A model that calls the first tool once, and then repeats the last message backwards. */
class MirrorClient implements ChatClient {
  readonly provider = 'mirror'
  readonly middleware: readonly ChatMiddleware[]

  constructor(...middleware: readonly ChatMiddleware[]) {
    this.middleware = middleware
  }

  async respond({ messages, options }: ChatRequest): Promise<ChatResponse> {
    const [first] = options.tools ?? []
    const isNew = messages.every(({ role }) => role !== 'tool')
    if (first !== undefined && isNew) {
      const call = {
        type: 'function-call',
        callId: 'c1',
        name: first.name,
        arguments: '{}',
      } as const
      return chatResponse({ messages: [message('assistant', [call])] })
    }
    const question = messages.findLast(({ role }) => role === 'user')
    return chatResponse(Array.from(messageText(question!)).toReversed().join(''))
  }

  async *stream(request: ChatRequest) {
    yield* toUpdates(await this.respond(request))
  }

  readonly getResponse = ((input: MessageInput, given?: GetResponseOptions) => {
    const { stream, instructions, signal, parent, ...options } = given ?? {}
    const pipeline = chatPipeline(this.middleware)
    const call = { client: this, messages: input, instructions, signal, parent, options }
    return stream === true ? pipeline.stream(call) : pipeline.execute(call)
  }) as ChatClient['getResponse']
}

const log: string[] = []
const client = new MirrorClient(
  chatMiddleware('log', async (context, callNext) => {
    await callNext()
    log.push(context.stream ? 'streamed' : 'plain')
  }),
)

const { text: plain } = await client.getResponse('sleep')
const streamed = await client.getResponse('peels', { stream: true }).finalResponse()
console.log(plain, streamed.text, log)

const now = tool({ name: 'now', description: 'The time.', execute: () => '12:00' })
const { messages } = await withFunctionInvocation(client).getResponse('noon', { tools: [now] })
console.log(messages.map(({ role }) => role).join(', '))

assert.deepEqual([plain, streamed.text], ['peels', 'sleep'])
assert.deepEqual(log, ['plain', 'streamed', 'plain', 'plain'])
assert.deepEqual(
  messages.map(({ role }) => role),
  ['assistant', 'tool', 'assistant'],
)
