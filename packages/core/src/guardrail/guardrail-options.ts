import type { OptionRules } from '../base/check-options.ts'
import type { Role } from '../messages/message.ts'
import type { GuardrailCheckOptions } from './guardrail-check.ts'
import type { ReleasePolicy } from './scan-options.ts'
import { byStrictness } from './scan-options.ts'
import type { GuardrailStage } from './verdict.ts'

/** How text is held back while it is checked. */
export interface GuardrailStreamOptions {
  /**
   * What leaves before all is checked. A guardrail that asks for a `retry` needs `full`.
   * @default 'window' with `pending` or `holdChars`, otherwise 'full'
   */
  readonly release?: ReleasePolicy | undefined
  /** The length of the longest match. @default 256, and 0 for `sentence` */
  readonly holdChars?: number | undefined
  /**
   * Characters between two checks; with `sentence`, whole sentences of at least so many.
   * @default each update, for `sentence` each sentence, for `full` only at the end
   */
  readonly checkEveryChars?: number | undefined
  /** The index from which on the text may still be the start of a match. */
  readonly pending?: ((text: string, from: number) => number) | undefined
}

export interface GuardrailOptions<Level extends 'agent' | 'chat' = 'agent' | 'chat'>
  extends GuardrailCheckOptions {
  /** What kind of guardrail it is, such as `pii`: `explain` knows the places of the known ones. */
  readonly role?: string | undefined
  /** What is checked. */
  readonly applyTo: readonly GuardrailStage[]
  /**
   * Where input and output are checked: once for the run, or around every model call.
   * @default 'agent' for input and instructions, 'chat' for output and reasoning
   */
  readonly level?: Level | undefined
  /**
   * Which messages: those that this run has not checked, the last one of the user, or all, each time.
   * @default 'new'
   */
  readonly messages?: 'new' | 'last-user' | 'all' | undefined
  /**
   * Whose messages are input. Those of the role system are instructions.
   * @default ['user', 'assistant', 'tool'] at agent level, ['user'] at chat level
   */
  readonly roles?: readonly Exclude<Role, 'system'>[] | undefined
  /**
   * How text is read. `decoded` asks once more with JSON escapes decoded where there are some, so that
   * what stands behind a line break in JSON stands behind a line break; JSON as a whole is read as
   * `name: value` in lines. `raw` is for what measures a text as it is sent.
   * @default 'decoded'
   */
  readonly readAs?: 'decoded' | 'raw' | undefined
  readonly stream?: GuardrailStreamOptions | undefined
  /**
   * `parallel` checks input while the model answers; nothing is released and no tool runs before
   * the verdict. What is to be replaced is then blocked.
   * @default 'serial'
   */
  readonly execution?: 'serial' | 'parallel' | undefined
  /**
   * How often a `retry` verdict on output asks the model again; beyond it, the verdict blocks.
   * @default 1
   */
  readonly maxRetries?: number | undefined
}

/** Rules of what guardrails hand on to `guardrail` as they were given it, for `checkOptions`. */
export const guardrailCheckRules: OptionRules<
  Omit<GuardrailOptions, 'name' | 'check' | 'role' | 'applyTo' | 'readAs' | 'stream' | 'maxRetries'>
> = {
  level: ['agent', 'chat'],
  messages: ['new', 'last-user', 'all'],
  roles: 'any',
  execution: ['serial', 'parallel'],
  mode: ['enforce', 'shadow', 'off'],
  when: 'function?',
  onError: ['closed', 'open'],
  unsupported: ['block', 'allow'],
  timeoutMs: 1,
  blockMessage: 'any',
  onEvent: 'function?',
  includeContent: 'any',
}

export const guardrailRules: OptionRules<GuardrailOptions> = {
  ...guardrailCheckRules,
  name: 'string',
  check: 'function',
  role: 'any',
  applyTo: 'any',
  readAs: ['decoded', 'raw'],
  stream: { release: byStrictness, holdChars: 0, checkEveryChars: 1, pending: 'function?' },
  maxRetries: 0,
}

/** Of the options of a guardrail, those that `guardrail` takes. It throws at all others. */
export function guardrailOptions<Options extends object>(
  options: Options,
): Pick<Options, keyof Options & keyof GuardrailOptions> {
  const entries = Object.entries(options).filter(([name]) => Object.hasOwn(guardrailRules, name))
  return Object.fromEntries(entries) as Pick<Options, keyof Options & keyof GuardrailOptions>
}
