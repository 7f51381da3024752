import type { OptionRules } from '@lamella/core/authoring'
import type { Role } from '@lamella/core'
import type { GuardrailCheckOptions } from './guardrail-check.ts'
import type { ReleasePolicy } from './scan-options.ts'
import { byStrictness } from './scan-options.ts'
import type { GuardrailStage } from './verdict.ts'

/** Options for holding text back while it is checked. */
export interface GuardrailStreamOptions {
  /**
   * Text that may pass before everything is checked. A guardrail that returns `retry` needs `full`.
   * @default 'window' with `pending` or `holdChars`, otherwise 'full'
   */
  readonly release?: ReleasePolicy | undefined
  /** Length of the longest match in UTF-16 units. @default 256, and 0 for `sentence` */
  readonly holdChars?: number | undefined
  /**
   * Number of characters between two checks; with `sentence`, minimum length of the checked sentences.
   * @default each update, for `sentence` each sentence, for `full` only at the end
   */
  readonly checkEveryChars?: number | undefined
  /** Returns the index from which the text may still be the start of a match. @default `holdChars` decides */
  readonly pending?: ((text: string, from: number) => number) | undefined
}

/** Options of {@link guardrail}. */
export interface GuardrailOptions<Level extends 'agent' | 'chat' = 'agent' | 'chat'>
  extends GuardrailCheckOptions {
  /** Kind of the guardrail, such as `pii`: `explain` knows where each known kind belongs. @default none */
  readonly role?: string | undefined
  /** Kinds of content that are checked. */
  readonly applyTo: readonly GuardrailStage[]
  /**
   * Level that checks input and output: once for the run, or around every model call.
   * @default 'agent' for input and instructions, 'chat' for output and reasoning
   */
  readonly level?: Level | undefined
  /**
   * Checked messages: those that this run has not checked yet, the last one of the user, or all of them.
   * @default 'new'
   */
  readonly messages?: 'new' | 'last-user' | 'all' | undefined
  /**
   * Roles whose messages are input. Messages of the role system are instructions.
   * @default ['user', 'assistant', 'tool'] at agent level, ['user'] at chat level
   */
  readonly roles?: readonly Exclude<Role, 'system'>[] | undefined
  /**
   * Reading of text. `decoded` checks text with JSON escapes a second time, decoded, and JSON as lines of
   * `name: value`. `raw` checks the text as it is sent, for guardrails that measure it.
   * @default 'decoded'
   */
  readonly readAs?: 'decoded' | 'raw' | undefined
  /** Options for holding text back while it is checked. @default the whole text is checked before it passes */
  readonly stream?: GuardrailStreamOptions | undefined
  /**
   * `parallel` checks input while the model answers; no text passes and no tool runs before the verdict. A
   * `replace` verdict then blocks.
   * @default 'serial'
   */
  readonly execution?: 'serial' | 'parallel' | undefined
  /**
   * Maximum number of model calls that `retry` verdicts on output repeat. Beyond it, the verdict blocks.
   * @default 1
   */
  readonly maxRetries?: number | undefined
}

/** Rules for `checkOptions` of the options that guardrails pass on to `guardrail`. */
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
  timeoutMs: 'ms',
  blockMessage: 'any',
  onEvent: 'function?',
  includeContent: 'any',
}

// Called, since bundlers keep an object that spreads another one, even if nothing uses it.
export const guardrailRules: OptionRules<GuardrailOptions> = /* @__PURE__ */ (() => ({
  ...guardrailCheckRules,
  name: 'string',
  check: 'function',
  role: 'any',
  applyTo: 'any',
  readAs: ['decoded', 'raw'],
  stream: { release: byStrictness, holdChars: 0, checkEveryChars: 1, pending: 'function?' },
  maxRetries: 0,
}))()

/** Picks the options of a guardrail that `guardrail` accepts: it throws at all others. */
export function guardrailOptions<Options extends object>(
  options: Options,
): Pick<Options, keyof Options & keyof GuardrailOptions> {
  const entries = Object.entries(options).filter(([name]) => Object.hasOwn(guardrailRules, name))
  return Object.fromEntries(entries) as Pick<Options, keyof Options & keyof GuardrailOptions>
}
