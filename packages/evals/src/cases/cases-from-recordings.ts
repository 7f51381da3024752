import { textOf } from '@lamella/core'
import type { Content } from '@lamella/core'
import { isObject, parseArguments } from '@lamella/core/authoring'
import { replayOf } from '@lamella/picture'
import type { EvaluationCase, RecordedToolResult } from './evaluation-case.ts'
import type { GatheredCases, Texts } from './gathered-cases.ts'

/**
 * Makes a case of the first run of each recording of `@lamella/picture`: its input, the results of its tools,
 * and its last answer as `expected`. Recordings without full content are skipped.
 * @param recordings the text of one recording each
 */
export async function casesFromRecordings(recordings: Texts): Promise<GatheredCases> {
  const cases: EvaluationCase[] = []
  let skipped = 0
  for await (const recording of recordings) {
    const lines = recording.split('\n').flatMap(readLine)
    const run = lines.find(({ k }) => k === 'run')
    if (run === undefined || run['capture'] !== 'full') {
      skipped++
      continue
    }
    const { input, steps } = replayOf(recording)
    const contents = steps
      .at(-1)
      ?.updates.flatMap((update): readonly Content[] => update.contents ?? [])
    cases.push({
      id: typeof run['id'] === 'string' ? run['id'] : `recording-${cases.length + 1}`,
      input,
      expected: textOf(contents ?? []),
      toolResults: toolResultsOf(lines.filter(({ r }) => r === run['r'])),
    })
  }
  return { cases, skipped }
}

interface Part {
  readonly type?: unknown
  readonly fn?: unknown
  readonly name?: string
  readonly text?: string
  readonly error?: string
  readonly parts?: readonly Part[]
}

/** Results of tool calls in the messages of a recorded run, in their order. */
function toolResultsOf(lines: readonly Readonly<Record<string, unknown>>[]): RecordedToolResult[] {
  const calls = new Map<unknown, { readonly name: string; readonly arguments: string }>()
  const results: RecordedToolResult[] = []
  for (const { k, parts } of lines) {
    if (k !== 'msg' || !Array.isArray(parts)) continue
    for (const part of parts as readonly Part[]) {
      if (part.type === 'function-call')
        calls.set(part.fn, { name: part.name ?? '', arguments: part.text ?? '' })
      const call = part.type === 'function-result' ? calls.get(part.fn) : undefined
      if (call === undefined) continue
      const text = (part.parts ?? []).map((inner) => inner.text ?? '').join('')
      results.push({
        name: call.name,
        arguments: parseArguments(call.arguments).value,
        ...(part.error === undefined ? { result: text } : { error: text || part.error }),
      })
    }
  }
  return results
}

function readLine(line: string): Readonly<Record<string, unknown>>[] {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? [value] : []
  } catch {
    return []
  }
}
