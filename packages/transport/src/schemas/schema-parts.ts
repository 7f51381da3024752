import type { WireObject } from '../wire/wire.ts'
import { decoded, recordOf } from '../wire/wire.ts'

/** Returns the part of a schema that a reference such as `#/$defs/place` names, if it is there. */
export function schemaPart(schema: unknown, reference: string): unknown {
  let part = schema
  for (const step of reference.split('/').slice(1)) {
    const name = decoded(step).replaceAll('~1', '/').replaceAll('~0', '~')
    part = Object.hasOwn(recordOf(part), name) ? recordOf(part)[name] : undefined
  }
  return part
}

/** The properties of two schemas of objects. One that both describe, each in its way, may be either. */
export function joinedProperties(known: unknown, more: unknown): WireObject {
  const all = new Map(Object.entries(recordOf(known)))
  for (const [name, part] of Object.entries(recordOf(more))) {
    const before = all.get(name)
    const isSame = before === undefined || JSON.stringify(before) === JSON.stringify(part)
    all.set(name, isSame ? part : { anyOf: [...alternatives(before), part] })
  }
  return Object.fromEntries(all)
}

function alternatives(part: unknown): readonly unknown[] {
  const { anyOf, ...rest } = recordOf(part)
  return Array.isArray(anyOf) && Object.keys(rest).length === 0 ? anyOf : [part]
}
