import type { OnionRow } from '../src/reading/onion.ts'
import { middlewareOf } from '../src/reading/run-picture.ts'
import { nameOfCall } from '../src/reading/words.ts'
import { h } from './dom.ts'

/** Place of a row in the onion of a run that was not made. */
export function planView({ call, place, name }: OnionRow): Node[] {
  const names = middlewareOf(call)
  const outermost = nameOfCall(call)
  if (place === undefined) return [h('p', {}, [outermost, ...names].join(' → '))]
  const outside = names[place - 1] ?? outermost
  const next =
    place === names.length ? 'answers it' : `passes it on to ${names[place + 1] ?? 'the core'}`
  return [h('p', {}, `${name} gets the request from ${outside}, and ${next}.`)]
}
