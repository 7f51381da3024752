import type { AgentContext } from './agent-context.ts'
import type { AgentResponseUpdate } from './agent-response.ts'
import type { ChatContext } from './chat-context.ts'
import type { Content } from './content.ts'
import type { Guard, GuardPlace } from './guard.ts'
import { harmless } from './guard.ts'
import { isFile, isUnknown } from './guarded-contents.ts'
import type { Finding, GuardedPart, ReleasePolicy, ScanOptions, ScanWindow } from './held-text.ts'
import { holdBackGate } from './hold-back-gate.ts'
import { checkFiles } from './input-guard.ts'
import { message } from './message.ts'
import type { GuardrailTripped } from './termination.ts'
import { isThenable } from './update-passage.ts'
import type { UpdateTransformer } from './update-transformer.ts'
import type { GuardStage, GuardStatus, GuardSubject, Verdict } from './verdict.ts'

/** What a guard looks at of what comes out. */
export interface OutputGuardOptions {
  readonly stages: ReadonlySet<GuardStage>
  readonly stream: Omit<ScanOptions, 'onFinding'>
  readonly maxRetries: number
}

interface Judged extends Finding {
  readonly status: GuardStatus
  readonly stage: GuardStage
  readonly verdict: Verdict
  readonly match: string
}

/** Makes the part of a layer that holds back what comes out, and asks the model again. */
export function outputGuard(
  guard: Guard,
  { stages, stream, maxRetries }: OutputGuardOptions,
): (
  context: AgentContext | ChatContext,
  place: GuardPlace,
  callNext: () => Promise<unknown>,
) => Promise<void> {
  const { release } = stream
  const parts: GuardedPart[] = []
  if (stages.has('output')) parts.push('text', 'refusal')
  if (stages.has('reasoning')) parts.push('reasoning')

  return async (context, place, callNext) => {
    let retries = 0
    let again: { readonly trip: GuardrailTripped; readonly feedback: string } | undefined
    const flagged = new Set<string>()

    const judge = (
      verdict: Verdict | undefined,
      subject: GuardSubject,
      from: number,
    ): readonly Judged[] | undefined => {
      if (verdict === undefined) return undefined
      const { action } = verdict
      const { stage } = subject
      const status = statusOf(verdict, release)
      if (status === 'passed') {
        guard.report(status, stage, verdict, place)
        return undefined
      }
      const mayRetry = action === 'retry' && release === 'full' && retries < maxRetries
      if (mayRetry) {
        const trip = guard.tripped(stage, verdict, place)
        again = { trip, feedback: verdict.feedback ?? verdict.message ?? askAgain }
        guard.report('retry', stage, verdict, place)
        throw trip
      }
      if (action !== 'replace' && !verdict.spans?.length) {
        const key = `${status} ${stage} ${verdict.category}`
        if (!flagged.has(key)) guard.report(status, stage, verdict, place, { match: subject.text })
        flagged.add(key)
        if (status === 'blocked' && !guard.isShadow) throw guard.tripped(stage, verdict, place)
        return undefined
      }
      return guard.findings(verdict, subject.text).map(({ start, end, replacement }) => ({
        start: start + from,
        end: end + from,
        replacement: action === 'replace' ? replacement : undefined,
        status,
        stage,
        verdict,
        match: subject.text.slice(start, end),
      }))
    }

    context.transformUpdates(
      holdBackGate<Judged>({
        ...stream,
        ...(guard.isShadow && { observe: true }),
        parts,
        scan: (window) => {
          const subject = subjectOf(window)
          const verdict = guard.ask(subject, place)
          return isThenable(verdict)
            ? verdict.then((given) => judge(given, subject, window.from))
            : judge(verdict, subject, window.from)
        },
        onFinding: ({ status, stage, verdict, match }) => {
          guard.report(status, stage, verdict, place, { match })
          if (status === 'blocked' && !guard.isShadow) throw guard.tripped(stage, verdict, place)
        },
      }),
    )
    context.transformUpdates(otherParts(guard, stages, place))

    const { messages } = context
    for (;;) {
      try {
        await callNext()
        return
      } catch (error) {
        if (again === undefined || again.trip !== error) throw error
        context.messages = [...messages, message('user', again.feedback)]
        again = undefined
        retries++
      }
    }
  }
}

const askAgain = 'That answer was not acceptable. Please answer again.'

/** What an output guard does about a verdict. What has left cannot be replaced. */
function statusOf({ action }: Verdict, release: ReleasePolicy): GuardStatus {
  if (action !== 'replace') return harmless[action] ?? 'blocked'
  return release === 'passthrough' ? 'flagged' : 'replaced'
}

function subjectOf({ part, text, from, final }: ScanWindow): GuardSubject {
  return {
    stage: part === 'reasoning' ? 'reasoning' : 'output',
    text: text.slice(from),
    before: text.slice(0, from),
    role: 'assistant',
    final,
  }
}

/** Checks the parts that are not text: files, and those that nobody can read. */
function otherParts(
  guard: Guard,
  stages: ReadonlySet<GuardStage>,
  place: GuardPlace,
): UpdateTransformer<AgentResponseUpdate> {
  const files = stages.has('file')
  const concerns = (content: Content): boolean =>
    (files && isFile(content)) || (stages.has('output') && isUnknown(content))
  return {
    transform(update, controller) {
      if (!update.contents.some(concerns)) {
        controller.enqueue(update)
        return undefined
      }
      for (const content of update.contents) {
        if (!isUnknown(content)) continue
        const subject: GuardSubject = {
          stage: 'output',
          text: '',
          contents: [content],
          final: true,
        }
        guard.conclude(guard.unreadable(subject, place), subject, place)
      }
      if (!files) {
        controller.enqueue(update)
        return undefined
      }
      return checkFiles(guard, update.contents, place, { role: 'assistant' }).then((contents) => {
        const { raw: _, ...rest } = update
        controller.enqueue(contents === update.contents ? update : { ...rest, contents })
      })
    },
  }
}
