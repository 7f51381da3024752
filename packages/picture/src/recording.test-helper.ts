import type { MiddlewareInput } from '@lamella/core'
import { chatMiddleware, ProviderError } from '@lamella/core'
import { guardrail } from '@lamella/guardrail'
import type { Line } from './lines/line.ts'
import { readLines } from './lines/read-lines.ts'
import type { Recorder } from './recorder/recorder.ts'
import { recorder } from './recorder/recorder.ts'
import type { RecorderOptions } from './recorder/recorder-options.ts'
import { readRecording } from './reading/read-recording.ts'
import type { RunPicture } from './reading/run-picture.ts'

/** Output of a recorder. */
export interface Recorded {
  readonly text: string
  readonly lines: readonly Line[]
  readonly runs: readonly RunPicture[]
  /** Lines of one kind. */
  readonly of: <K extends Line['k']>(k: K) => Extract<Line, { k: K }>[]
}

/** Records what `work` does, in memory. */
export async function recorded(
  options: Partial<RecorderOptions>,
  work: (record: Recorder<'agent'>) => Promise<unknown>,
): Promise<Recorded> {
  let text = ''
  const errors: unknown[] = []
  const record = recorder({
    sink: { write: (lines) => void (text += lines) },
    onEvent: ({ error }) => errors.push(error),
    ...options,
  } as RecorderOptions & { level?: 'agent' })
  await work(record)
  await record.flush()
  if (errors.length > 0) throw new AggregateError(errors, 'recording failed')
  const { lines } = readLines(text)
  return {
    text,
    lines,
    runs: readRecording(text),
    of: (k) => lines.filter((line) => line.k === k) as never,
  }
}

/** Calls again once when a call fails. */
export const again = (): MiddlewareInput =>
  chatMiddleware('again', (_, callNext) => callNext().catch(async () => void (await callNext())))

/** Makes letters large as they pass. */
export const shout = (): MiddlewareInput =>
  chatMiddleware('shout', async (context, callNext) => {
    context.transformUpdates({
      transform(update, controller) {
        const contents = update.contents.map((part) =>
          part.type === 'text' ? { ...part, text: part.text.toUpperCase() } : part,
        )
        controller.enqueue({ ...update, contents })
      },
    })
    await callNext()
  })

/** Adds a message for the model, and an instruction. */
export const note = (text = 'Be brief.'): MiddlewareInput =>
  chatMiddleware('note', async (context, callNext) => {
    context.messages = [
      ...context.messages,
      { id: 'note', role: 'user', contents: [{ type: 'text', text }] },
    ]
    context.instructions = 'Answer in English.'
    await callNext()
  })

/** Blocks answers with a word. */
export const blocks = (word: string): MiddlewareInput =>
  guardrail({
    name: 'no-words',
    applyTo: ['output'],
    check: ({ text }) => ({ action: text.includes(word) ? 'block' : 'allow' }),
  })

export const overloaded = (): Error =>
  new ProviderError('busy', { kind: 'overloaded', provider: 'scripted', status: 529 })
