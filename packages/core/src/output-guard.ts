import type { AgentContext } from './agent-context.ts'
import type { ChatContext } from './chat-context.ts'
import type { Guard, GuardPlace } from './guard.ts'
import { statusOf } from './guard.ts'
import { checkContents, isOpaque } from './guarded-contents.ts'
import type { Finding, GuardedPart, ScanOptions } from './held-text.ts'
import { holdBackGate } from './hold-back-gate.ts'
import { message } from './message.ts'
import { isThenable } from './update-passage.ts'
import type { GuardStage, GuardSubject, Verdict } from './verdict.ts'

/** What a guard looks at of what comes out. */
export interface OutputGuardOptions {
  readonly stages: readonly GuardStage[]
  readonly stream: Omit<ScanOptions, 'onFinding'>
  readonly maxRetries: number
}

interface Judged extends Finding {
  readonly act: () => void
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
  if (stages.includes('output')) parts.push('text', 'refusal')
  if (stages.includes('reasoning')) parts.push('reasoning')

  return async (context, place, callNext) => {
    let retries = 0
    let again: { readonly trip: unknown; readonly feedback: string } | undefined
    const told = new Set<string>()

    const judge = (
      verdict: Verdict | undefined,
      { stage, text }: GuardSubject,
      from: number,
    ): readonly Judged[] | undefined => {
      if (verdict === undefined) return undefined
      const { action, spans, category, feedback = verdict.message ?? askAgain } = verdict
      if (action === 'retry' && release === 'full' && retries < maxRetries) {
        guard.report('retry', stage, verdict, place)
        if (guard.isShadow) return undefined
        const trip = guard.tripped(stage, verdict, place)
        again = { trip, feedback }
        throw trip
      }
      // What has left cannot be replaced.
      const status = statusOf(verdict, release === 'passthrough' ? 'flagged' : 'replaced')
      const act = (match: string): void => {
        guard.report(status, stage, verdict, place, { match })
        if (status === 'blocked') guard.trip(stage, verdict, place)
      }
      if (action !== 'replace' && (action === 'allow' || !spans?.length)) {
        const key = `${status} ${stage} ${category}`
        if (status === 'passed' || !told.has(key)) act(text)
        told.add(key)
        return undefined
      }
      return guard.findings(verdict, text).map(({ start, end, replacement }) => ({
        start: start + from,
        end: end + from,
        replacement: action === 'replace' ? replacement : undefined,
        act: () => act(text.slice(start, end)),
      }))
    }

    context.transformUpdates(
      holdBackGate<Judged>({
        ...stream,
        ...(guard.isShadow && { observe: true }),
        parts,
        scan: ({ part, text, from, final }) => {
          const subject: GuardSubject = {
            stage: part === 'reasoning' ? part : 'output',
            text: text.slice(from),
            before: text.slice(0, from),
            role: 'assistant',
            final,
          }
          const verdict = guard.ask(subject, place)
          return isThenable(verdict)
            ? verdict.then((given) => judge(given, subject, from))
            : judge(verdict, subject, from)
        },
        onFinding: ({ act }) => act(),
      }),
    )
    // What is not text: files, and what nobody can read.
    const about = { stage: 'output', role: 'assistant' } as const
    context.transformUpdates({
      transform(update, controller) {
        const { contents, raw: _, ...rest } = update
        if (!contents.some(isOpaque)) return controller.enqueue(update)
        return checkContents(guard, stages, contents, about, place, '').then((checked) =>
          controller.enqueue(checked === contents ? update : { ...rest, contents: checked }),
        )
      },
    })

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
