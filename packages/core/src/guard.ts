import type { CheckContext, GuardedContext } from './check-scope.ts'
import { CheckScope } from './check-scope.ts'
import { isControlFlow } from './control-flow.ts'
import type { Finding } from './held-text.ts'
import type { Block } from './termination.ts'
import { GuardrailTripped } from './termination.ts'
import { isThenable } from './update-passage.ts'
import type { GuardStage, GuardStatus, GuardSubject, Verdict, VerdictSpan } from './verdict.ts'
import { checkVerdict } from './verdict.ts'

/** What a guard did. */
export interface GuardEvent {
  readonly guardrail: string
  readonly stage: GuardStage
  readonly status: GuardStatus
  readonly category?: string | undefined
  readonly severity?: number | undefined
  /** Only with `includeContent`. */
  readonly match?: string | undefined
  /** Why the guard itself failed. */
  readonly error?: unknown
}

export interface GuardOptions {
  /** Unique in a pipeline. */
  readonly name: string
  readonly check: (subject: GuardSubject, context: CheckContext) => Verdict | Promise<Verdict>
  /**
   * `shadow` reports what it would do and does nothing.
   * @default 'enforce'
   */
  readonly mode?: 'enforce' | 'shadow' | 'off' | undefined
  /**
   * Whether the guard works for a call.
   * @default always
   */
  readonly when?: ((context: GuardedContext) => boolean | Promise<boolean>) | undefined
  /**
   * What happens when the guard itself fails or takes too long: the run is blocked, or goes on.
   * @default 'closed'
   */
  readonly onError?: 'closed' | 'open' | undefined
  /**
   * What happens with a part that the guard cannot read.
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
  readonly onEvent?: ((event: GuardEvent) => void) | undefined
  /**
   * Whether `onEvent` is told what matched. Events of the run never are.
   * @default false
   */
  readonly includeContent?: boolean | undefined
}

/** Where a guard stands. */
export interface GuardPlace {
  readonly level: Block['level']
  readonly layer: GuardedContext
  /** What a file is part of. */
  readonly side: Block['stage']
  /** What becomes of a verdict that something is to be replaced. */
  readonly replaced: GuardStatus
  /** What a `retry` leads to, where it does not block. */
  readonly onRetry?: ((verdict: Verdict) => void) | undefined
}

/** Asks a check, and deals with whatever can go wrong with it. It holds no data of a run. */
export class Guard {
  readonly name: string
  readonly isShadow: boolean
  readonly #options: GuardOptions

  constructor(options: GuardOptions) {
    this.name = options.name
    this.isShadow = options.mode === 'shadow'
    this.#options = options
  }

  async applies(place: GuardPlace, stage: GuardStage): Promise<boolean> {
    try {
      return (await this.#options.when?.(place.layer)) ?? true
    } catch (error) {
      this.fail(error, stage, place)
      return false
    }
  }

  /** The verdict, or nothing where the check failed and the run is to go on all the same. */
  ask(
    subject: GuardSubject,
    place: GuardPlace,
  ): Verdict | undefined | Promise<Verdict | undefined> {
    const { check, timeoutMs = 5000 } = this.#options
    const read = (verdict: Verdict): Verdict | undefined => this.read(verdict, subject, place)
    const fail = (error: unknown): undefined => this.fail(error, subject.stage, place)
    try {
      const scope = new CheckScope(place.layer)
      const given = check(subject, scope)
      return isThenable(given)
        ? scope.within(given, timeoutMs, this.name).then(read).catch(fail)
        : read(given)
    } catch (error) {
      return fail(error)
    }
  }

  /** Takes in a verdict. */
  read(verdict: Verdict, subject: GuardSubject, place: GuardPlace): Verdict | undefined {
    checkVerdict(this.name, verdict, subject.text.length)
    if (verdict.action !== 'unsupported') return verdict
    const { category = 'unsupported' } = verdict
    if (this.#options.unsupported !== 'allow') return { ...verdict, action: 'block', category }
    this.report('error', subject.stage, { ...verdict, category }, place)
    return undefined
  }

  /** Throws what the run is to end with when the guard itself fails, unless it fails open. */
  fail(error: unknown, stage: GuardStage, place: GuardPlace): undefined {
    if (isControlFlow(error, place.layer.signal)) throw error
    const verdict = { category: 'guardrail_error' }
    this.report('error', stage, verdict, place, { error })
    if (this.#options.onError !== 'open') this.trip(stage, verdict, place, error)
  }

  report(
    status: GuardStatus,
    stage: GuardStage,
    { category, severity }: Pick<Verdict, 'category' | 'severity'>,
    place: GuardPlace,
    { match, ...more }: Pick<GuardEvent, 'match' | 'error'> = {},
  ): void {
    const { onEvent, includeContent } = this.#options
    const data: GuardEvent = {
      guardrail: this.name,
      stage,
      status: this.isShadow && status !== 'passed' && status !== 'error' ? 'shadow' : status,
      ...(category !== undefined && { category }),
      ...(severity !== undefined && { severity }),
    }
    if (status !== 'passed') place.layer.run.emit({ type: 'guardrail', data })
    try {
      onEvent?.({ ...data, ...more, ...(includeContent && match !== undefined && { match }) })
    } catch {
      // An observer cannot break what it observes.
    }
  }

  /** Throws what the run is to end with, but not in shadow mode. */
  trip(...about: Parameters<Guard['tripped']>): void {
    if (!this.isShadow) throw this.tripped(...about)
  }

  tripped(
    stage: GuardStage,
    { category = 'policy', message }: Pick<Verdict, 'category' | 'message'>,
    { level, side }: GuardPlace,
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
  findings({ spans, replacement = '' }: Verdict, text: string): readonly (Finding & VerdictSpan)[] {
    const found = spans?.length ? spans : [{ start: 0, end: text.length }]
    return found.map((span) => ({ ...span, replacement: span.replacement ?? replacement }))
  }

  /**
   * Acts on the verdict about something complete: throws if it is to be blocked, returns what is to
   * be replaced if anything is.
   */
  conclude(
    verdict: Verdict | undefined,
    { stage, text }: GuardSubject,
    place: GuardPlace,
  ): readonly Finding[] | undefined {
    if (verdict === undefined) return undefined
    const { replaced, onRetry } = place
    const isRetried = verdict.action === 'retry' && onRetry !== undefined
    const status = isRetried ? 'retry' : statusOf(verdict, replaced)
    const found = this.findings(verdict, text)
    const match = found.map(({ start, end }) => text.slice(start, end)).join('\n')
    this.report(status, stage, verdict, place, { match })
    if (this.isShadow) return undefined
    if (isRetried) onRetry(verdict)
    if (status === 'blocked') this.trip(stage, verdict, place)
    return status === 'replaced' ? found : undefined
  }
}

/** What a guard does about a verdict. */
export function statusOf({ action }: Verdict, replaced: GuardStatus): GuardStatus {
  if (action === 'replace') return replaced
  return action === 'allow' ? 'passed' : action === 'flag' ? 'flagged' : 'blocked'
}
