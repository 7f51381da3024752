import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, AIMessageChunk } from '@langchain/core/messages'
import type { BaseMessage } from '@langchain/core/messages'
import type { ChatResult } from '@langchain/core/outputs'
import { ChatGenerationChunk } from '@langchain/core/outputs'

interface Call {
  readonly call: string
  readonly args: object
}

/** An answer of a model: text, a call of a tool, or an error. */
export type Step = string | Call | Error

/** A model that answers by a plan, in pieces of so many letters. */
export class PlannedModel extends BaseChatModel {
  readonly seen: BaseMessage[][] = []
  readonly #plan: (messages: readonly BaseMessage[], call: number) => Step | Promise<Step>
  readonly #pieceChars: number

  constructor(
    plan: (messages: readonly BaseMessage[], call: number) => Step | Promise<Step>,
    pieceChars = 3,
  ) {
    super({})
    this.#plan = plan
    this.#pieceChars = pieceChars
  }

  _llmType(): string {
    return 'planned'
  }

  override bindTools(): this {
    return this
  }

  async #next(messages: BaseMessage[]): Promise<AIMessage> {
    const step = await this.#plan(messages, this.seen.push(messages) - 1)
    if (step instanceof Error) throw step
    if (typeof step === 'string') return new AIMessage(step)
    const args = step.args as Record<string, unknown>
    return new AIMessage({ content: '', tool_calls: [{ id: 'call_1', name: step.call, args }] })
  }

  async _generate(messages: BaseMessage[]): Promise<ChatResult> {
    const message = await this.#next(messages)
    return { generations: [{ text: message.text, message }] }
  }

  override async *_streamResponseChunks(messages: BaseMessage[]) {
    const { text, tool_calls = [] } = await this.#next(messages)
    for (let at = 0; at < text.length; at += this.#pieceChars) {
      const piece = text.slice(at, at + this.#pieceChars)
      yield new ChatGenerationChunk({ text: piece, message: new AIMessageChunk(piece) })
    }
    const tool_call_chunks = tool_calls.map(({ id, name, args }, index) => ({
      type: 'tool_call_chunk' as const,
      id: id!,
      name,
      args: JSON.stringify(args),
      index,
    }))
    const message = new AIMessageChunk({ content: '', tool_call_chunks })
    yield new ChatGenerationChunk({ text: '', message })
  }
}

/** A model that plays a script. Calls beyond it repeat the last step. */
export function scripted(steps: readonly Step[]): PlannedModel {
  return new PlannedModel((_, call) => steps[Math.min(call, steps.length - 1)]!)
}
