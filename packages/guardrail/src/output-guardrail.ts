import { isThenable, perRun, withoutPartial } from '@lamella/core/authoring'
import type { AgentContext, ChatContext } from '@lamella/core'
import type { Guardrail, GuardrailPlace } from './guardrail-check.ts'
import { statusOf } from './guardrail-check.ts'
import type { TextJoint } from './hold-back-gate.ts'
import { holdBackGate } from './hold-back-gate.ts'
import { checkContents, isOpaque } from './judged-contents.ts'
import type { JudgedPart, ScanOptions } from './scan-options.ts'
import type { GuardrailStage, GuardrailSubject, TextEdit, Verdict } from './verdict.ts'

/** Selection of the output that a guardrail checks. */
export interface OutputGuardrailOptions {
  readonly stages: readonly GuardrailStage[]
  readonly stream: ScanOptions
  readonly maxRetries: number
}

/** Creates the part of a middleware that holds output back and repeats model calls. */
export function outputGuardrail(
  guardrail: Guardrail,
  { stages, stream, maxRetries }: OutputGuardrailOptions,
): (
  context: AgentContext | ChatContext,
  place: GuardrailPlace,
  callNext: () => Promise<unknown>,
) => Promise<void> {
  const { release } = stream
  const parts: JudgedPart[] = []
  if (stages.includes('output')) parts.push('text', 'refusal')
  if (stages.includes('reasoning')) parts.push('reasoning')

  /** Endings of the model calls of a run. */
  const jointOf = perRun((): TextJoint => ({}))

  return async (context, place, callNext) => {
    const joint = jointOf(context.run)
    const isJson = stream.readAs !== 'raw' && context.options.responseFormat !== undefined
    let retries = 0
    let again: { readonly trip: unknown; readonly feedback: string } | undefined
    const told = new Set<string>()

    const judge = (
      verdict: Verdict | undefined,
      { stage, text }: GuardrailSubject,
      from: number,
    ): readonly TextEdit[] | undefined => {
      if (verdict === undefined) return undefined
      const { action, spans, category, feedback = verdict.message ?? askAgain } = verdict
      if (action === 'allow') {
        guardrail.report('passed', stage, verdict, place)
        return undefined
      }
      if (action === 'retry' && release === 'full' && retries < maxRetries) {
        guardrail.report('retry', stage, verdict, place)
        if (guardrail.isShadow) return undefined
        const trip = guardrail.tripped(stage, verdict, place)
        again = { trip, feedback }
        throw trip
      }
      // Text that has passed cannot be replaced.
      const status = statusOf(verdict, release === 'passthrough' ? 'flagged' : 'replaced')
      const act = (match: string): void => {
        guardrail.report(status, stage, verdict, place, { match })
        if (status === 'blocked') guardrail.trip(stage, verdict, place)
      }
      if (action !== 'replace' && !spans?.length) {
        const key = `${status} ${stage} ${category}`
        if (!told.has(key)) act(text)
        told.add(key)
        return undefined
      }
      return guardrail.edits(verdict, text).map(({ start, end, replacement }) => ({
        start: start + from,
        end: end + from,
        replacement: action === 'replace' ? replacement : undefined,
        onReached: () => act(text.slice(start, end)),
      }))
    }

    context.transformUpdates(
      holdBackGate({
        ...stream,
        readAs: isJson ? 'json' : stream.readAs,
        joint: place.level === 'chat' ? joint : undefined,
        observe: guardrail.isShadow || undefined,
        parts,
        scan: ({ part, text, from, final }) => {
          const subject: GuardrailSubject = {
            stage: part === 'reasoning' ? part : 'output',
            text: text.slice(from),
            before: text.slice(0, from),
            whole: text,
            role: 'assistant',
            final,
          }
          const verdict = guardrail.ask(subject, place)
          return isThenable(verdict)
            ? verdict.then((given) => judge(given, subject, from))
            : judge(verdict, subject, from)
        },
      }),
    )
    // Contents other than text: files, and contents of unknown type.
    const about = { stage: 'output', role: 'assistant' } as const
    context.transformUpdates({
      transform(update, controller) {
        if (!update.contents.some(isOpaque)) return controller.enqueue(update)
        const { contents, raw: _, ...rest } = update
        return checkContents(guardrail, stages, contents, about, place, { readable: '' }).then(
          (checked) =>
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
        if (again === undefined || again.trip !== error) throw withoutPartial(error)
        const id = context.run.ids.createId('msg')
        const contents = [{ type: 'text', text: again.feedback }] as const
        context.messages = [...messages, { id, role: 'user', contents }]
        retries++
      }
    }
  }
}

const askAgain = 'That answer was not acceptable. Please answer again.'
