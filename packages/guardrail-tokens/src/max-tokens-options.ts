import type { ChatContext } from '@lamella/core'
import type { GuardrailEvent, GuardrailOptions } from '@lamella/guardrail'
import type { CountTokens } from '@lamella/text'
import { checkOptions } from '@lamella/core/authoring'
import { guardrailCheckRules } from '@lamella/guardrail'
import type { GptEncodingName } from './gpt-encoding.ts'
import { gptEncodingNames } from './gpt-encoding.ts'
import type { CountMethod } from './token-counter.ts'

/** A number of tokens, or a function that returns one for a model call, such as a share of the model's window. */
export type TokenLimit = number | ((context: ChatContext) => number)

/** Action for each kind of excess. */
export interface OnExceed {
  /**
   * Input of a model call. `truncate` removes the oldest turns, and blocks if the last one alone is too long.
   * @default 'block'
   */
  readonly input?: 'block' | 'truncate' | undefined
  /**
   * Output of a model call. `cap` sends the limit to the provider and cuts a longer answer.
   * @default 'cap'
   */
  readonly output?: 'cap' | 'block' | undefined
  /** One message. @default 'block' */
  readonly message?: 'block' | 'truncate' | undefined
  /**
   * Arguments of a tool call. `reject` tells the model in a tool result.
   * @default 'reject'
   */
  readonly arguments?: 'reject' | 'block' | undefined
  /** Result of a tool call. @default 'truncate' */
  readonly result?: 'block' | 'truncate' | undefined
}

/** Report of an action, with the figures that caused it. */
export interface TokenEvent extends GuardrailEvent {
  /** Counted tokens. */
  readonly tokens?: number | undefined
  /** Limit that they exceed, in tokens. */
  readonly limit?: number | undefined
  /** Method of counting: `exact` with the model's vocabulary, otherwise `estimate`. */
  readonly method?: CountMethod | undefined
}

type Common = 'mode' | 'when' | 'onError' | 'unsupported' | 'timeoutMs' | 'blockMessage' | 'roles'

/** Options of {@link maxTokens}. */
export interface MaxTokensOptions extends Pick<GuardrailOptions, Common> {
  /** Name, unique in a pipeline. @default 'tokens' */
  readonly name?: string | undefined
  /**
   * Maximum input of a model call in tokens: messages, instructions, tools, the schema of the answer, files.
   * @default 4096 if no limit is set at all, otherwise no limit
   */
  readonly maxInputTokens?: TokenLimit | undefined
  /** Maximum output of a model call in tokens. @default no limit */
  readonly maxOutputTokens?: TokenLimit | undefined
  /** Maximum input and output of a model call in tokens: the output gets the rest. @default no limit */
  readonly maxTotalTokens?: TokenLimit | undefined
  /** Maximum length of one message in tokens, of the roles in `roles`. @default no limit */
  readonly maxMessageTokens?: number | undefined
  /** Maximum length of a tool call's arguments as JSON, in tokens. @default no limit */
  readonly maxToolArgumentsTokens?: number | undefined
  /** Maximum length of a tool call's result in tokens. @default no limit */
  readonly maxToolResultTokens?: number | undefined
  /** One action for every kind that supports it, or an action for each kind. @default the defaults of `OnExceed` */
  readonly onExceed?: 'block' | 'truncate' | OnExceed | undefined
  /** Counts the tokens of a text. @default `gpt-tokenizer` if it is installed and knows the model */
  readonly countTokens?: CountTokens | undefined
  /** Vocabulary for every model, or `estimate` for none. @default the model's, if known */
  readonly encoding?: GptEncodingName | 'estimate' | undefined
  /** Text at the end of a truncated text. @default '…' */
  readonly suffix?: string | undefined
  /** Called with a report of every action. @default none */
  readonly onEvent?: ((event: TokenEvent) => void) | undefined
}

/** @throws TypeError or RangeError that names the option and the value */
export function checkMaxTokens(options: MaxTokensOptions): void {
  const owner = 'maxTokens'
  const { maxInputTokens, maxOutputTokens, maxTotalTokens, onExceed } = options ?? {}
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

/** Resolves `onExceed` to an action for each kind. */
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
