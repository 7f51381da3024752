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

type Fields = Readonly<Record<string, unknown>>

/** Results of tool calls in the messages of a recorded run, in their order. */
function toolResultsOf(lines: readonly Fields[]): RecordedToolResult[] {
  const calls = new Map<unknown, { readonly name: string; readonly arguments: string }>()
  const results: RecordedToolResult[] = []
  for (const { k, parts } of lines) {
    if (k !== 'msg') continue
    for (const { type, fn, name, text: written, error, parts: inner } of partsOf(parts)) {
      if (type === 'function-call')
        calls.set(fn, { name: wordsOf(name), arguments: wordsOf(written) })
      const call = type === 'function-result' ? calls.get(fn) : undefined
      if (call === undefined) continue
      const text = partsOf(inner)
        .map((part) => wordsOf(part['text']))
        .join('')
      results.push({
        name: call.name,
        arguments: parseArguments(call.arguments).value,
        ...(error === undefined ? { result: text } : { error: text || wordsOf(error) }),
      })
    }
  }
  return results
}

function partsOf(parts: unknown): readonly Fields[] {
  return Array.isArray(parts) ? parts.filter(isObject) : []
}

function wordsOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function readLine(line: string): Fields[] {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? [value] : []
  } catch {
    return []
  }
}
