import type { ChatContext, GuardrailEvent, GuardrailOptions } from '@lamella/core'
import type { CountTokens } from '@lamella/core/authoring'
import { checkOptions, guardrailCheckRules } from '@lamella/core/authoring'
import type { GptEncodingName } from './gpt-encoding.ts'
import { gptEncodingNames } from './gpt-encoding.ts'
import type { CountMethod } from './token-counter.ts'

/** A number of tokens, or what gives one for a call, such as a share of the model's window. */
export type TokenLimit = number | ((context: ChatContext) => number)

/** What follows where there is too much. */
export interface OnExceed {
  /**
   * `truncate` leaves out the oldest turns, and blocks where the last one alone is too long.
   * @default 'block'
   */
  readonly input?: 'block' | 'truncate' | undefined
  /**
   * `cap` tells the provider the limit, and cuts what is longer all the same.
   * @default 'cap'
   */
  readonly output?: 'cap' | 'block' | undefined
  /** @default 'block' */
  readonly message?: 'block' | 'truncate' | undefined
  /**
   * `reject` gives the model a result that says so.
   * @default 'reject'
   */
  readonly arguments?: 'reject' | 'block' | undefined
  /** @default 'truncate' */
  readonly result?: 'block' | 'truncate' | undefined
}

/** What the guardrail did, with the figures it did it for. */
export interface TokenEvent extends GuardrailEvent {
  readonly tokens?: number | undefined
  readonly limit?: number | undefined
  /** Whether `tokens` were counted by the model's vocabulary. */
  readonly method?: CountMethod | undefined
}

type Common = 'mode' | 'when' | 'onError' | 'unsupported' | 'timeoutMs' | 'blockMessage' | 'roles'

export interface MaxTokensOptions extends Pick<GuardrailOptions, Common> {
  /** @default 'tokens' */
  readonly name?: string | undefined
  /**
   * Of all that a model call is given: messages, instructions, tools, the schema of the answer, files.
   * @default 4096, where no limit is given at all
   */
  readonly maxInputTokens?: TokenLimit | undefined
  /** Of what the model writes in a call. */
  readonly maxOutputTokens?: TokenLimit | undefined
  /** Of input and output of a call: the output gets what the input leaves. */
  readonly maxTotalTokens?: TokenLimit | undefined
  /** Of one message; of the user, unless `roles` says more. */
  readonly maxMessageTokens?: number | undefined
  /** Of the arguments of one tool call, as JSON. */
  readonly maxToolArgumentsTokens?: number | undefined
  /** Of the result of one tool call. */
  readonly maxToolResultTokens?: number | undefined
  /** One for all, where it is possible there, or one for each. */
  readonly onExceed?: 'block' | 'truncate' | OnExceed | undefined
  /** Counts the tokens of a text. @default `gpt-tokenizer` where it is installed and has the model */
  readonly countTokens?: CountTokens | undefined
  /** The vocabulary for all models, or no vocabulary at all. @default that of the model, if known */
  readonly encoding?: GptEncodingName | 'estimate' | undefined
  /** What is put behind a text that was truncated. @default '…' */
  readonly suffix?: string | undefined
  readonly onEvent?: ((event: TokenEvent) => void) | undefined
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkMaxTokens(options: MaxTokensOptions): void {
  const owner = 'maxTokens'
  const { maxInputTokens, maxOutputTokens, maxTotalTokens, onExceed } = options
  checkOptions(owner, options, {
    name: 'string?',
    maxInputTokens: typeof maxInputTokens === 'function' ? 'any' : 1,
    maxOutputTokens: typeof maxOutputTokens === 'function' ? 'any' : 1,
    maxTotalTokens: typeof maxTotalTokens === 'function' ? 'any' : 1,
    maxMessageTokens: 1,
    maxToolArgumentsTokens: 1,
    maxToolResultTokens: 1,
    onExceed:
      typeof onExceed === 'string'
        ? ['block', 'truncate']
        : {
            input: ['block', 'truncate'],
            output: ['cap', 'block'],
            message: ['block', 'truncate'],
            arguments: ['reject', 'block'],
            result: ['block', 'truncate'],
          },
    countTokens: 'function?',
    encoding: [...gptEncodingNames, 'estimate'],
    suffix: 'any',
    roles: guardrailCheckRules.roles,
    mode: guardrailCheckRules.mode,
    when: guardrailCheckRules.when,
    onError: guardrailCheckRules.onError,
    unsupported: guardrailCheckRules.unsupported,
    timeoutMs: guardrailCheckRules.timeoutMs,
    blockMessage: guardrailCheckRules.blockMessage,
    onEvent: guardrailCheckRules.onEvent,
  })
}

/** What follows, for each kind. */
export function exceedActions(onExceed: MaxTokensOptions['onExceed']): Required<{
  readonly [Kind in keyof OnExceed]: NonNullable<OnExceed[Kind]>
}> {
  if (onExceed === 'block') {
    return {
      input: 'block',
      output: 'block',
      message: 'block',
      arguments: 'block',
      result: 'block',
    }
  }
  const cut = onExceed === 'truncate' ? 'truncate' : 'block'
  const given = typeof onExceed === 'object' ? onExceed : {}
  return {
    input: given.input ?? cut,
    output: given.output ?? 'cap',
    message: given.message ?? cut,
    arguments: given.arguments ?? 'reject',
    result: given.result ?? 'truncate',
  }
}
