import type { Content, MessageInput } from '@lamella/core'
import { textOf } from '@lamella/core'
import { isObject } from '@lamella/core/authoring'
import type { EvaluationCase, RecordedToolResult } from './evaluation-case.ts'
import type { GatheredCases, Texts } from './gathered-cases.ts'

interface OpenRun {
  readonly input: MessageInput
  readonly arguments: Map<unknown, unknown>
  readonly results: RecordedToolResult[]
}

/**
 * Makes a case of each outermost run in a log of `@lamella/middleware-audit`: its input, the results of its
 * tools, and its answer as `expected`, as far as the log has them. By default a log has hashes only: runs
 * whose input was not recorded with `capture: { input: 'full' }` or `'redacted'` are skipped. Check the log
 * with `verify` first.
 * @param lines JSON lines of the log
 */
export async function casesFromAudit(lines: Texts): Promise<GatheredCases> {
  const cases: EvaluationCase[] = []
  const open = new Map<unknown, OpenRun>()
  let skipped = 0
  for await (const line of lines) {
    const record = readRecord(line)
    if (record === undefined) continue
    const { type, run: id } = record
    if (type === 'run.start' && record['parent'] === undefined) {
      const input = messagesOf(record['input'])
      if (input === undefined) skipped++
      else open.set(id, { input, arguments: new Map(), results: [] })
    }
    const run = open.get(id)
    if (run === undefined) continue
    if (type === 'tool.call') run.arguments.set(record['callId'], record['arguments'])
    if (type === 'tool.result') addResult(run, record)
    if (type === 'run.end') {
      open.delete(id)
      const output = messagesOf(record['output'])
      cases.push({
        id: typeof id === 'string' ? id : `run-${cases.length + 1}`,
        input: run.input,
        ...(output && { expected: textOf(output.at(-1)?.contents ?? []) }),
        toolResults: run.results,
      })
    }
  }
  return { cases, skipped: skipped + open.size }
}

function addResult({ arguments: given, results }: OpenRun, record: AuditLine): void {
  const { tool, callId, status, message, result } = record
  const args = given.get(callId)
  // A hash is no content.
  const isHash = isObject(result) && ('sha256' in result || 'hmac' in result)
  if (typeof tool !== 'string' || (status === 'completed' && (isHash || result === undefined)))
    return
  const isRecorded = isObject(args) && !('sha256' in args) && !('hmac' in args)
  results.push({
    name: tool,
    ...(isRecorded && { arguments: args }),
    ...(status === 'completed'
      ? { result }
      : { error: typeof message === 'string' ? message : 'it failed' }),
  })
}

type AuditLine = Readonly<Record<string, unknown>>

function readRecord(line: string): AuditLine | undefined {
  try {
    const value: unknown = JSON.parse(line)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Recorded messages. Undefined for hashes and for nothing. */
function messagesOf(
  value: unknown,
): { readonly role: 'user'; readonly contents: readonly Content[] }[] | undefined {
  const isPart = (part: unknown): boolean =>
    isObject(part) && (part['type'] !== 'text' || typeof part['text'] === 'string')
  const isMessage = (entry: unknown): boolean =>
    isObject(entry) && Array.isArray(entry['contents']) && entry['contents'].every(isPart)
  return Array.isArray(value) && value.length > 0 && value.every(isMessage) ? value : undefined
}
