import type { ChatContext, Message } from '@lamella/core'
import type { CountTokens, TokenCalibration } from '@lamella/text'
import { messageTokens, requestTokens, tokenCalibration } from '@lamella/text'

export interface TokenMeterOptions {
  readonly countTokens?: CountTokens | undefined
  readonly calibrate: boolean
}

/** Counts what a call sends. A message is counted once, however many calls send it. */
export class TokenMeter {
  readonly #countTokens: CountTokens | undefined
  readonly #calibration: TokenCalibration | undefined
  readonly #known = new WeakMap<Message, number>()

  constructor({ countTokens, calibrate }: TokenMeterOptions) {
    this.#countTokens = countTokens
    this.#calibration = calibrate ? tokenCalibration() : undefined
  }

  /** Factor that corrects a count for the model of this call. */
  factor(context: ChatContext): number {
    return this.#calibration?.factor(modelOf(context)) ?? 1
  }

  of(message: Message): number {
    let tokens = this.#known.get(message)
    if (tokens === undefined) {
      tokens = messageTokens(message, this.#countTokens)
      this.#known.set(message, tokens)
    }
    return tokens
  }

  ofAll(messages: readonly Message[]): number {
    return messages.reduce((sum, message) => sum + this.of(message), 0)
  }

  /** Of what a call sends besides its messages. */
  overhead({ instructions, options: { tools, responseFormat } }: ChatContext): number {
    return requestTokens({ messages: [], instructions, tools, responseFormat }, this.#countTokens)
  }

  /** Takes in what the provider reported for what the context holds now. */
  learn(context: ChatContext, reported: number | undefined): void {
    if (this.#calibration === undefined) return
    const counted = this.overhead(context) + this.ofAll(context.messages)
    this.#calibration.learn(modelOf(context), counted, reported)
  }
}

function modelOf({ client, options }: ChatContext): string {
  return `${client.provider}/${options.model ?? client.model ?? ''}`
}
