import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, AIMessageChunk } from '@langchain/core/messages'
import type { BaseMessage } from '@langchain/core/messages'
import type { ChatResult } from '@langchain/core/outputs'
import { ChatGenerationChunk } from '@langchain/core/outputs'
import type { AgentResponse, AgentResponseUpdate } from '@lamella/core'
import { LamellaError } from '@lamella/core'
import type { chatPipeline } from '@lamella/core/authoring'
import { contentsOf, Conversation, textOfContent, toolCallOf } from './message-contents.ts'
import type { InnerModel } from './model-client.ts'
import { ModelClient } from './model-client.ts'
import type { CallEnd, OpenRun } from './open-runs.ts'

interface GuardedModelFields {
  readonly inner: InnerModel
  /** Middleware around each call. */
  readonly calls: ReturnType<typeof chatPipeline>
  /** Returns the run that the call belongs to, and begins it with the conversation if it is the first. */
  readonly runOf: (conversation: Conversation) => OpenRun
}

/** A model whose calls pass through middleware before LangChain's callbacks and streams see an answer. */
export class GuardedModel extends BaseChatModel {
  readonly #fields: GuardedModelFields

  constructor(fields: GuardedModelFields) {
    super({})
    this.#fields = fields
  }

  _llmType(): string {
    return 'lamella'
  }

  /** Abilities of the model, by which LangChain chooses how to ask for structured output. */
  override get profile(): BaseChatModel['profile'] {
    return (this.#fields?.inner as { readonly profile?: BaseChatModel['profile'] })?.profile ?? {}
  }

  override bindTools(tools: unknown, kwargs?: unknown): GuardedModel {
    const inner = this.#fields.inner.bindTools?.(tools as never, kwargs as never)
    if (inner === undefined) throw new TypeError('lamellaMiddleware: the model has no `bindTools`')
    return new GuardedModel({ ...this.#fields, inner })
  }

  async _generate(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
  ): Promise<ChatResult> {
    const { client, updates } = this.#call(messages, { ...options, streams: false })
    let text = ''
    for (;;) {
      const { done, value } = await updates.next()
      if (done === true) {
        const message = messageOf(value, text, client)
        return { generations: [{ text, message }] }
      }
      text = (value.restart === true ? '' : text) + wordsOf(value)
    }
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    manager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { client, updates } = this.#call(messages, { ...options, streams: true })
    let streamed = ''
    for (;;) {
      const { done, value } = await updates.next()
      if (done === true) {
        yield lastChunk(messageOf(value, streamed, client))
        return
      }
      if (value.restart === true && streamed !== '') throw restarted()
      const text = wordsOf(value)
      if (text === '') continue
      streamed += text
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk(text) })
      yield chunk
      await manager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk })
    }
  }

  #call(given: BaseMessage[], options: { readonly streams: boolean }) {
    const { inner, calls, runOf } = this.#fields
    const conversation = new Conversation(given)
    const client = new ModelClient(inner, conversation, options)
    const open = runOf(conversation)
    const updates = open.call(({ run, input }) =>
      calls.execute({ run, client, ...conversation.edited(open.given, input) }),
    )
    return { client, updates }
  }
}

/** The answer for LangChain: that of the model itself if no middleware has changed it. */
function messageOf(end: CallEnd, text: string, { last }: ModelClient): AIMessage {
  if ('ended' in end) return endedMessage(end.ended, text)
  const { functionCalls, usage } = end.response
  if (last !== undefined) {
    const calls = contentsOf(last).filter(({ type }) => type === 'function-call')
    const isSame =
      textOfContent(last.content) === text &&
      JSON.stringify(calls.map(pairOf)) === JSON.stringify(functionCalls.map(pairOf))
    if (isSame) return last
  }
  const { inputTokens = 0, outputTokens = 0 } = usage
  return new AIMessage({
    content: text,
    tool_calls: functionCalls.map(toolCallOf),
    usage_metadata: {
      input_tokens: inputTokens,
      output_tokens: outputTokens,
      total_tokens: usage.totalTokens ?? inputTokens + outputTokens,
    } as never,
  })
}

/** The answer of a run that its middleware has ended: the text of a block, or else an error. */
function endedMessage({ status, reason, block }: AgentResponse, text: string): AIMessage {
  if (status === 'completed' || text !== '') {
    const lamella = { status, ...(block !== undefined && { block: { ...block } }) }
    return new AIMessage({ content: text, response_metadata: { lamella } })
  }
  const code = status === 'budget_exhausted' ? status : 'run_stopped'
  throw new LamellaError(`the run ended as ${status}${reason === undefined ? '' : `: ${reason}`}`, {
    code,
  })
}

function pairOf(call: object): unknown {
  const { name, arguments: text } = call as { readonly name?: string; readonly arguments?: string }
  return [name, text]
}

function wordsOf({ contents, role = 'assistant' }: AgentResponseUpdate): string {
  if (role !== 'assistant') return ''
  return contents.map((content) => (content.type === 'text' ? content.text : '')).join('')
}

/** The rest of an answer whose text has been streamed. */
function lastChunk(message: AIMessage): ChatGenerationChunk {
  const { id, tool_calls = [], usage_metadata, response_metadata } = message
  const tool_call_chunks = tool_calls.map(({ id: callId, name, args }, index) => ({
    type: 'tool_call_chunk' as const,
    ...(callId !== undefined && { id: callId }),
    name,
    args: JSON.stringify(args),
    index,
  }))
  const chunk = new AIMessageChunk({
    content: '',
    ...(id !== undefined && { id }),
    ...(usage_metadata !== undefined && { usage_metadata }),
    response_metadata,
    tool_call_chunks,
  })
  return new ChatGenerationChunk({ text: '', message: chunk })
}

function restarted(): LamellaError {
  return new LamellaError(
    'lamellaMiddleware: a middleware began the answer again after a part of it was sent',
    {
      code: 'stream_restarted',
    },
  )
}
