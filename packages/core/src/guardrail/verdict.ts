import type { Content } from '../messages/content.ts'
import type { Role } from '../messages/message.ts'

/** What a guardrail looks at. */
export type GuardrailStage =
  | 'input'
  | 'output'
  | 'arguments'
  | 'result'
  | 'instructions'
  | 'reasoning'
  | 'file'

/** What a check is to judge. */
export interface GuardrailSubject {
  readonly stage: GuardrailStage
  /** Everything readable, joined without separators; arguments as JSON. Empty for files. */
  readonly text: string
  /** Text that stands right before and was judged already. Matches do not begin in it. */
  readonly before?: string | undefined
  /** `before` and `text` as one string. @default `text`, where nothing stands before it */
  readonly whole?: string | undefined
  readonly contents?: readonly Content[] | undefined
  readonly role?: Role | undefined
  readonly toolName?: string | undefined
  readonly callId?: string | undefined
  /** Whether the text ends here. */
  readonly final: boolean
}

/** A stretch of a text, and what becomes of it. Offsets are in UTF-16 code units. */
export interface TextEdit {
  readonly start: number
  readonly end: number
  /**
   * Replaces the stretch.
   * @default in a verdict the verdict's own, elsewhere the stretch stays
   */
  readonly replacement?: string | undefined
  /** Called once, as soon as more text cannot change the edit. Throws to end the call there. */
  readonly onReached?: (() => void) | undefined
}

/** What a check comes to. */
export interface Verdict {
  /**
   * `retry` asks the model again: with `feedback` as a message of the user, or as the result of the
   * call. `unsupported` says that the guardrail cannot read this.
   */
  readonly action: 'allow' | 'flag' | 'block' | 'replace' | 'retry' | 'unsupported'
  readonly category?: string | undefined
  /** From 0 to 1. */
  readonly severity?: number | undefined
  /** @default all of the text */
  readonly spans?: readonly TextEdit[] | undefined
  /** @default '' */
  readonly replacement?: string | undefined
  /** What the user may read of a block. */
  readonly message?: string | undefined
  readonly feedback?: string | undefined
}

/** What a guardrail did. In shadow mode everything but `passed` and `error` is `shadow`. */
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

/**
 * A broken verdict is a broken guardrail, and never a pass.
 * @throws TypeError for a verdict without a known action, RangeError for a span outside the text
 */
export function checkVerdict(name: string, verdict: Verdict | undefined, length: number): void {
  if (!actions.includes(verdict?.action)) {
    throw new TypeError(`guardrail "${name}": \`check\` gave no known \`action\``)
  }
  for (const { start, end } of verdict?.spans ?? []) {
    if (!(start >= 0 && start < end && end <= length)) {
      throw new RangeError(`guardrail "${name}": no span from ${start} to ${end} in ${length}`)
    }
  }
}
