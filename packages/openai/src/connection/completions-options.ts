import type { OptionRules } from '@lamella/core/authoring'
import type { ChatDialect, MaxTokensField } from '../dialects/chat-dialect.ts'
import type { ChatDialectName } from '../dialects/chat-dialects.ts'
import { clientRules } from './client-options.ts'

/** Options of Chat Completions. */
export interface CompletionsOptions {
  /**
   * Habits of the server: the name of one of `chatDialects`, or a dialect of your own.
   * @default that of the host in `baseURL`, else `'compatible'`
   */
  readonly dialect?: ChatDialectName | ChatDialect | undefined
  /**
   * Field for `maxOutputTokens`. `'auto'` takes the new name for OpenAI's models and the old one for
   * all others.
   * @default that of the dialect
   */
  readonly maxTokensField?: MaxTokensField | undefined
  /** Asks for usage at the end of a stream. @default that of the dialect */
  readonly streamUsage?: boolean | undefined
}

// Called, since bundlers keep an object that spreads another one, even if nothing uses it.
export const completionsRules: OptionRules<CompletionsOptions> & typeof clientRules =
  /* @__PURE__ */ (() => ({
    ...clientRules,
    dialect: 'any',
    maxTokensField: 'any',
    streamUsage: 'any',
  }))()
