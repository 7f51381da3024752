import type { Content, Role } from '@lamella/core'

/** Kind of content that a guardrail checks. */
export type GuardrailStage =
  | 'input'
  | 'output'
  | 'arguments'
  | 'result'
  | 'instructions'
  | 'reasoning'
  | 'file'

/** Subject of a check. */
export interface GuardrailSubject {
  /** Kind of the content. */
  readonly stage: GuardrailStage
  /** Text to judge, joined without separators; arguments as JSON. Empty for files. */
  readonly text: string
  /** Judged text directly before it. Matches do not begin in it. Undefined if there is none. */
  readonly before?: string | undefined
  /** `before` and `text` as one string. @default `text`, if there is no text before it */
  readonly whole?: string | undefined
  /** The file, for a file. Undefined for text. */
  readonly contents?: readonly Content[] | undefined
  /** Role of the message. Undefined for instructions. */
  readonly role?: Role | undefined
  /** Name of the tool, for arguments and results. */
  readonly toolName?: string | undefined
  /** Id of the tool call, for arguments and results. */
  readonly callId?: string | undefined
  /** True if no text follows. */
  readonly final: boolean
}

/** A range of a text with its replacement. Offsets are in UTF-16 units. */
export interface TextEdit {
  /** Index of the first unit. */
  readonly start: number
  /** Index behind the last unit. */
  readonly end: number
  /**
   * Replacement of the range.
   * @default in a verdict the replacement of the verdict, elsewhere the range stays
   */
  readonly replacement?: string | undefined
  /** Called once, as soon as further text cannot change the edit. Its error ends the call. @default none */
  readonly onReached?: (() => void) | undefined
}

/** Result of a check. */
export interface Verdict {
  /**
   * Action of the guardrail. `retry` repeats the model call with `feedback` as a message of the user, or as
   * the result of the tool call. `unsupported` means that the guardrail cannot read the content.
   */
  readonly action: 'allow' | 'flag' | 'block' | 'replace' | 'retry' | 'unsupported'
  /** Category of the finding. @default none */
  readonly category?: string | undefined
  /** Severity of the finding, from 0 to 1. @default none */
  readonly severity?: number | undefined
  /** Ranges of the finding. @default the whole text */
  readonly spans?: readonly TextEdit[] | undefined
  /** Replacement of ranges that have none. @default '' */
  readonly replacement?: string | undefined
  /** Sentence for the user after a block. @default the guardrail's `blockMessage` */
  readonly message?: string | undefined
  /** Text that tells the model what to change, for `retry`. @default a general sentence */
  readonly feedback?: string | undefined
}

/** Action of a guardrail. In shadow mode every action but `passed` and `error` is `shadow`. */
export type GuardrailStatus =
  | 'passed'
  | 'flagged'
  | 'blocked'
  | 'replaced'
  | 'retry'
  | 'error'
  | 'shadow'

const actions: readonly unknown[] = [
  'allow',
  'flag',
  'block',
  'replace',
  'retry',
  'unsupported',
] satisfies Verdict['action'][]

const noSpans: readonly TextEdit[] = []
const expected = `return { action }, with one of ${actions.join(', ')}`

/** Describes a returned value without any text that it holds. */
function shown(value: unknown): string {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'string' ? 'a text' : String(value)
  const { action } = value as { readonly action?: unknown }
  return typeof action === 'string' && /^[\w-]{1,20}$/.test(action)
    ? `the action "${action}"`
    : 'an object without `action`'
}

/**
 * A broken verdict is a broken guardrail, and never a pass.
 * @throws TypeError for a verdict without a known action, RangeError for a span outside the text
 */
export function checkVerdict(name: string, verdict: Verdict | undefined, length: number): void {
  if (!actions.includes(verdict?.action)) {
    throw new TypeError(`guardrail "${name}": \`check\` returned ${shown(verdict)}; ${expected}`)
  }
  for (const { start, end } of verdict?.spans ?? noSpans) {
    if (!(start >= 0 && start < end && end <= length)) {
      throw new RangeError(`guardrail "${name}": no span from ${start} to ${end} in ${length}`)
    }
  }
}
