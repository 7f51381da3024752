import { isThenable, isControlFlow } from '@lamella/core/authoring'
import type { Block } from '@lamella/core'
import { GuardrailTripped } from '@lamella/core'
import type { CheckContext, GuardrailContext } from './check-scope.ts'
import { CheckScope } from './check-scope.ts'
import type { ReadAs } from './scan-options.ts'
import type {
  GuardrailStage,
  GuardrailStatus,
  GuardrailSubject,
  TextEdit,
  Verdict,
} from './verdict.ts'
import { failureReason } from './failure-reason.ts'
import { checkVerdict } from './verdict.ts'

/** Report of a check. */
export interface GuardrailEvent {
  /** Name of the guardrail. */
  readonly guardrail: string
  /** Kind of the checked content. */
  readonly stage: GuardrailStage
  /** Action of the guardrail. */
  readonly status: GuardrailStatus
  /** Category of the finding. */
  readonly category?: string | undefined
  /** Severity of the finding, from 0 to 1. */
  readonly severity?: number | undefined
  /** Text of the finding, only with `includeContent`. */
  readonly match?: string | undefined
  /** Class and message of the error with which the guardrail itself failed, for `error`. */
  readonly reason?: string | undefined
  /** That error. Passed to `onEvent` only. */
  readonly error?: unknown
}

/** Options that all guardrails share. */
export interface GuardrailCheckOptions {
  /** Name, unique in a pipeline. */
  readonly name: string
  /** Judges a text or a file. */
  readonly check: (subject: GuardrailSubject, context: CheckContext) => Verdict | Promise<Verdict>
  /**
   * `shadow` reports its action without taking it; `off` adds no middleware.
   * @default 'enforce'
   */
  readonly mode?: 'enforce' | 'shadow' | 'off' | undefined
  /**
   * Returns true if the guardrail applies to a run, model call or tool call.
   * @default always
   */
  readonly when?: ((context: GuardrailContext) => boolean | Promise<boolean>) | undefined
  /**
   * Blocks (`closed`) or continues (`open`) the run if the guardrail itself fails or exceeds `timeoutMs`.
   * @default 'closed'
   */
  readonly onError?: 'closed' | 'open' | undefined
  /**
   * Blocks or allows content that the guardrail cannot read.
   * @default 'block'
   */
  readonly unsupported?: 'block' | 'allow' | undefined
  /** Maximum duration of a check in milliseconds. @default 5000 */
  readonly timeoutMs?: number | undefined
  /**
   * Sentence for the user after a block.
   * @default the sentence of the agent
   */
  readonly blockMessage?: string | undefined
  /** Called with a report of every check. Errors that it throws are ignored. @default none */
  readonly onEvent?: ((event: GuardrailEvent) => void) | undefined
  /**
   * Includes the text of a finding in reports to `onEvent`. Events of the run never include it.
   * @default false
   */
  readonly includeContent?: boolean | undefined
}

/** Place of a guardrail in a run. */
export interface GuardrailPlace {
  readonly level: Block['level']
  readonly middleware: GuardrailContext
  /** Side that a file belongs to. */
  readonly side: Block['stage']
  /** Status of a `replace` verdict. */
  readonly replaced: GuardrailStatus
  /** Handles a `retry` verdict. Without it, the verdict blocks. */
  readonly onRetry?: ((verdict: Verdict) => void) | undefined
}

type JudgedText = Pick<GuardrailSubject, 'stage' | 'text'>

/** Calls a check and handles its failures. Keeps no content of a run. */
export class Guardrail {
  readonly name: string
  readonly isShadow: boolean
  readonly readAs: ReadAs
  readonly #options: GuardrailCheckOptions
  /** Reasons of failures that the console has. */
  readonly #told = new Set<string>()

  constructor(options: GuardrailCheckOptions, readAs: ReadAs = 'decoded') {
    this.name = options.name
    this.isShadow = options.mode === 'shadow'
    this.readAs = readAs
    this.#options = options
  }

  async applies(place: GuardrailPlace, stage: GuardrailStage): Promise<boolean> {
    try {
      return (await this.#options.when?.(place.middleware)) ?? true
    } catch (error) {
      this.fail(error, { stage, text: '' }, place)
      return false
    }
  }

  /** Returns the verdict, or `undefined` if the check failed and `onError` is `open`. */
  ask(
    subject: GuardrailSubject,
    place: GuardrailPlace,
  ): Verdict | undefined | Promise<Verdict | undefined> {
    const { check, timeoutMs = 5000 } = this.#options
    try {
      const scope = new CheckScope(place.middleware)
      const given = check(subject, scope)
      if (!isThenable(given)) return this.read(given, subject, place)
      return scope
        .within(given, timeoutMs, this.name)
        .then((verdict) => this.read(verdict, subject, place))
        .catch((error: unknown) => this.fail(error, subject, place))
    } catch (error) {
      return this.fail(error, subject, place)
    }
  }

  /** Validates and reports a verdict. */
  read(verdict: Verdict, subject: JudgedText, place: GuardrailPlace): Verdict | undefined {
    checkVerdict(this.name, verdict, subject.text.length)
    if (verdict.action !== 'unsupported') return verdict
    const { category = 'unsupported' } = verdict
    if (this.#options.unsupported !== 'allow') return { ...verdict, action: 'block', category }
    this.report('error', subject.stage, { ...verdict, category }, place)
    return undefined
  }

  /**
   * Ends the run after a failure of the guardrail itself, unless `onError` is `open`. The reason is in the
   * event, and where the guardrail has no `onEvent` also on the console: a broken guardrail blocks everybody.
   */
  fail(error: unknown, { stage, text }: JudgedText, place: GuardrailPlace): undefined {
    if (isControlFlow(error, place.middleware.signal)) throw error
    const { onEvent, onError } = this.#options
    const verdict = { category: 'guardrail_error' }
    const reason = failureReason(error, text)
    this.report('error', stage, verdict, place, { error, reason })
    if (onEvent === undefined && !this.#told.has(reason) && this.#told.size < 10) {
      this.#told.add(reason)
      console.warn(`guardrail "${this.name}" failed: ${reason}`)
    }
    if (onError !== 'open') this.trip(stage, verdict, place, error)
  }

  report(
    status: GuardrailStatus,
    stage: GuardrailStage,
    { category, severity }: Pick<Verdict, 'category' | 'severity'>,
    place: GuardrailPlace,
    about?: Pick<GuardrailEvent, 'match' | 'error' | 'reason'>,
  ): undefined {
    const { onEvent, includeContent } = this.#options
    if (status === 'passed' && onEvent === undefined) return undefined
    const { match, reason, ...more } = about ?? {}
    const data: GuardrailEvent = {
      guardrail: this.name,
      stage,
      status: this.isShadow && status !== 'passed' && status !== 'error' ? 'shadow' : status,
      ...(category !== undefined && { category }),
      ...(severity !== undefined && { severity }),
      ...(reason !== undefined && { reason }),
    }
    if (status !== 'passed') place.middleware.run.emit({ type: 'guardrail', data })
    try {
      onEvent?.({ ...data, ...more, ...(includeContent && match !== undefined && { match }) })
    } catch {
      // Errors of an observer do not fail the check.
    }
    return undefined
  }

  /** Ends the run as blocked, except in shadow mode. */
  trip(...about: Parameters<Guardrail['tripped']>): void {
    if (!this.isShadow) throw this.tripped(...about)
  }

  tripped(
    stage: GuardrailStage,
    { category = 'policy', message }: Pick<Verdict, 'category' | 'message'>,
    { level, side }: GuardrailPlace,
    cause?: unknown,
  ): GuardrailTripped {
    const block: Block = {
      guardrail: this.name,
      level,
      stage: stage === 'arguments' || stage === 'result' ? stage : side,
      category,
      message: message ?? this.#options.blockMessage ?? '',
    }
    return new GuardrailTripped(block, { cause })
  }

  /** Returns the edits of a verdict. */
  edits({ spans, replacement = '' }: Verdict, text: string): readonly TextEdit[] {
    const found = spans?.length ? spans : [{ start: 0, end: text.length }]
    return found.map((edit) => ({ ...edit, replacement: edit.replacement ?? replacement }))
  }

  /**
   * Acts on the verdict about complete content: throws to block it, or returns its edits.
   */
  conclude(
    verdict: Verdict | undefined,
    { stage, text }: JudgedText,
    place: GuardrailPlace,
  ): readonly TextEdit[] | undefined {
    if (verdict === undefined) return undefined
    if (verdict.action === 'allow') return this.report('passed', stage, verdict, place)
    const { replaced, onRetry } = place
    const isRetried = verdict.action === 'retry' && onRetry !== undefined
    const status = isRetried ? 'retry' : statusOf(verdict, replaced)
    const found = this.edits(verdict, text)
    const match = found.map(({ start, end }) => text.slice(start, end)).join('\n')
    this.report(status, stage, verdict, place, { match })
    if (this.isShadow) return undefined
    if (isRetried) onRetry(verdict)
    if (status === 'blocked') this.trip(stage, verdict, place)
    return status === 'replaced' ? found : undefined
  }
}

/** Returns the status that a verdict other than `allow` leads to. */
export function statusOf({ action }: Verdict, replaced: GuardrailStatus): GuardrailStatus {
  if (action === 'replace') return replaced
  return action === 'flag' ? 'flagged' : 'blocked'
}
