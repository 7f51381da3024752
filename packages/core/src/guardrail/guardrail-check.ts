import { isThenable } from '../base/promises.ts'
import { isControlFlow } from '../contract/control-flow.ts'
import type { Block } from '../contract/termination.ts'
import { GuardrailTripped } from '../contract/termination.ts'
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
import { checkVerdict } from './verdict.ts'

/** What a guardrail did. */
export interface GuardrailEvent {
  readonly guardrail: string
  readonly stage: GuardrailStage
  readonly status: GuardrailStatus
  readonly category?: string | undefined
  readonly severity?: number | undefined
  /** Only with `includeContent`. */
  readonly match?: string | undefined
  /** Why the guardrail itself failed. */
  readonly error?: unknown
}

export interface GuardrailCheckOptions {
  /** Unique in a pipeline. */
  readonly name: string
  readonly check: (subject: GuardrailSubject, context: CheckContext) => Verdict | Promise<Verdict>
  /**
   * `shadow` reports what it would do and does nothing.
   * @default 'enforce'
   */
  readonly mode?: 'enforce' | 'shadow' | 'off' | undefined
  /**
   * Whether the guardrail works for a call.
   * @default always
   */
  readonly when?: ((context: GuardrailContext) => boolean | Promise<boolean>) | undefined
  /**
   * What happens when the guardrail itself fails or takes too long: the run is blocked, or goes on.
   * @default 'closed'
   */
  readonly onError?: 'closed' | 'open' | undefined
  /**
   * What happens with a part that the guardrail cannot read.
   * @default 'block'
   */
  readonly unsupported?: 'block' | 'allow' | undefined
  /** @default 5000 */
  readonly timeoutMs?: number | undefined
  /**
   * What the user reads of a block.
   * @default the agent's own sentence
   */
  readonly blockMessage?: string | undefined
  /** Told of every check. What it throws is dropped. */
  readonly onEvent?: ((event: GuardrailEvent) => void) | undefined
  /**
   * Whether `onEvent` is told what matched. Events of the run never are.
   * @default false
   */
  readonly includeContent?: boolean | undefined
}

/** Where a guardrail stands. */
export interface GuardrailPlace {
  readonly level: Block['level']
  readonly middleware: GuardrailContext
  /** What a file is part of. */
  readonly side: Block['stage']
  /** What becomes of a verdict that something is to be replaced. */
  readonly replaced: GuardrailStatus
  /** What a `retry` leads to, where it does not block. */
  readonly onRetry?: ((verdict: Verdict) => void) | undefined
}

/** Asks a check, and deals with whatever can go wrong with it. It holds no data of a run. */
export class Guardrail {
  readonly name: string
  readonly isShadow: boolean
  readonly readAs: ReadAs
  readonly #options: GuardrailCheckOptions

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
      this.fail(error, stage, place)
      return false
    }
  }

  /** The verdict, or nothing where the check failed and the run is to go on all the same. */
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
        .catch((error: unknown) => this.fail(error, subject.stage, place))
    } catch (error) {
      return this.fail(error, subject.stage, place)
    }
  }

  /** Takes in a verdict. */
  read(verdict: Verdict, subject: GuardrailSubject, place: GuardrailPlace): Verdict | undefined {
    checkVerdict(this.name, verdict, subject.text.length)
    if (verdict.action !== 'unsupported') return verdict
    const { category = 'unsupported' } = verdict
    if (this.#options.unsupported !== 'allow') return { ...verdict, action: 'block', category }
    this.report('error', subject.stage, { ...verdict, category }, place)
    return undefined
  }

  /** Throws what the run is to end with when the guardrail itself fails, unless it fails open. */
  fail(error: unknown, stage: GuardrailStage, place: GuardrailPlace): undefined {
    if (isControlFlow(error, place.middleware.signal)) throw error
    const verdict = { category: 'guardrail_error' }
    this.report('error', stage, verdict, place, { error })
    if (this.#options.onError !== 'open') this.trip(stage, verdict, place, error)
  }

  report(
    status: GuardrailStatus,
    stage: GuardrailStage,
    { category, severity }: Pick<Verdict, 'category' | 'severity'>,
    place: GuardrailPlace,
    { match, ...more }: Pick<GuardrailEvent, 'match' | 'error'> = {},
  ): void {
    const { onEvent, includeContent } = this.#options
    if (status === 'passed' && onEvent === undefined) return
    const data: GuardrailEvent = {
      guardrail: this.name,
      stage,
      status: this.isShadow && status !== 'passed' && status !== 'error' ? 'shadow' : status,
      ...(category !== undefined && { category }),
      ...(severity !== undefined && { severity }),
    }
    if (status !== 'passed') place.middleware.run.emit({ type: 'guardrail', data })
    try {
      onEvent?.({ ...data, ...more, ...(includeContent && match !== undefined && { match }) })
    } catch {
      // An observer cannot break what it observes.
    }
  }

  /** Throws what the run is to end with, but not in shadow mode. */
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

  /** What a verdict asks to replace in a text. */
  edits({ spans, replacement = '' }: Verdict, text: string): readonly TextEdit[] {
    const found = spans?.length ? spans : [{ start: 0, end: text.length }]
    return found.map((edit) => ({ ...edit, replacement: edit.replacement ?? replacement }))
  }

  /**
   * Acts on the verdict about something complete: throws if it is to be blocked, returns what is to
   * be replaced if anything is.
   */
  conclude(
    verdict: Verdict | undefined,
    { stage, text }: GuardrailSubject,
    place: GuardrailPlace,
  ): readonly TextEdit[] | undefined {
    if (verdict === undefined) return undefined
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

/** What a guardrail does about a verdict. */
export function statusOf({ action }: Verdict, replaced: GuardrailStatus): GuardrailStatus {
  if (action === 'replace') return replaced
  return action === 'allow' ? 'passed' : action === 'flag' ? 'flagged' : 'blocked'
}
