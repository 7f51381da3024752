import { laneOf } from '../src/reading/lanes.ts'
import type { OnionRow } from '../src/reading/onion.ts'
import type { CallPicture } from '../src/reading/run-picture.ts'
import { innermostOf, passesAt } from '../src/reading/run-picture.ts'
import type { PartFacts } from '../src/lines/line.ts'
import type { Filter } from './state.ts'

const texts = new WeakMap<CallPicture, { readonly size: number; readonly text: string }>()

/** Tells if a row, or a text of its call, matches a search in lower case. */
export function matches(row: OnionRow, query: string): boolean {
  if (query === '') return true
  const own = [row.name, ...row.marks.map(({ text }) => text)].join('\n').toLowerCase()
  if (own.includes(query)) return true
  return row.place === undefined && textOfCall(row.call).includes(query)
}

/** Tells if a filter shows a row. */
export function isShown({ kind, marks }: OnionRow, filter: Filter): boolean {
  switch (filter) {
    case 'models':
      return kind === 'model'
    case 'tools':
      return kind === 'tool'
    case 'problems':
      return marks.some((mark) => ['failed', 'ended', 'retry', 'open'].includes(mark.kind))
    case 'changes':
      return marks.some((mark) => ['changed', 'held', 'answered'].includes(mark.kind))
    default:
      return true
  }
}

/** Everything that was said in a call, in lower case: what was new in its request, and its answer. */
function textOfCall(call: CallPicture): string {
  const size = call.updates.length + call.passes.length + call.events.length
  const known = texts.get(call)
  if (known?.size === size) return known.text
  const { scope } = call.run
  const said: string[] = []
  const seen = new Set<number>()
  const collect = (parts: readonly PartFacts[] = []): void => {
    for (const part of parts) {
      said.push(part.type, part.name ?? '', part.text ?? '', part.error ?? '')
      collect(part.parts)
    }
  }
  for (const p of new Set([0, innermostOf(call)])) {
    for (const { request, result } of passesAt(call, p)) {
      said.push(request.instructions?.text ?? '', request.args?.text ?? '')
      for (const number of [...request.messages.slice(-4), ...(result?.messages ?? [])]) {
        if (seen.has(number)) continue
        seen.add(number)
        collect(scope.messages.get(number)?.parts)
      }
      collect(result?.parts)
    }
    said.push(laneOf(call, p).text)
  }
  for (const { type, facts } of call.events) said.push(type, JSON.stringify(facts ?? {}))
  const text = said.join('\n').toLowerCase()
  texts.set(call, { size, text })
  return text
}
