import * as fc from 'fast-check'

/** A change of one value of a JSON tree, wherever it is. */
export interface JsonChange {
  readonly place: number
  readonly how: 'replace' | 'remove' | 'rename' | 'repeat' | 'nest'
  readonly value: unknown
  readonly name: string
}

const usualNames = [
  'id',
  'type',
  'role',
  'text',
  'content',
  'contents',
  'parts',
  'messages',
  'input',
]
const hiddenNames = ['__proto__', 'constructor', 'prototype', 'toString', 'then', 'toJSON']
const names = [...usualNames, ...hiddenNames]

/** Values that a program does not expect, of each type that JSON has. */
export const strangeValue: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, false, 0, -1, 1.5, 1e308, '', 'x', '\0', '\ud800', [], {}),
  fc.constantFrom('__proto__', 'constructor', 'user', 'assistant', 'tool', 'system', 'text'),
  fc.constantFrom('data:image/png;base64,AAAA', 'https://x.example/a', 'call_1', 'approval_1'),
  fc.nat(3000).map((length) => 'a'.repeat(length)),
  fc.jsonValue(),
  fc.dictionary(fc.constantFrom(...names), fc.jsonValue(), { noNullPrototype: true }),
)

/** Changes of a JSON tree, most of them few. */
export const jsonChanges: fc.Arbitrary<readonly JsonChange[]> = fc.array(
  fc.record({
    place: fc.nat(),
    how: fc.constantFrom<JsonChange['how']>('replace', 'remove', 'rename', 'repeat', 'nest'),
    value: strangeValue,
    name: fc.constantFrom(...names),
  }),
  { maxLength: 4 },
)

/** Returns a copy of a JSON value with the changes. Keys such as `__proto__` are keys like any other. */
export function changedJson(value: unknown, changes: readonly JsonChange[]): unknown {
  const root = { value: JSON.parse(JSON.stringify(value)) as unknown }
  for (const { place, how, value: other, name } of changes) {
    const places = placesIn(root)
    const [owner, key] = places[place % places.length]!
    const set = (at: string, to: unknown): void => {
      const field = { value: to, enumerable: true, configurable: true, writable: true }
      Object.defineProperty(owner, at, field)
    }
    const before = owner[key]
    const isList = Array.isArray(owner)
    if (how === 'replace') set(key, other)
    else if (how === 'nest') set(key, [before, other])
    else if (how === 'repeat' && isList) owner.push(structuredClone(before))
    else if (isList) owner.splice(Number(key), 1)
    else if (owner !== root) {
      delete owner[key]
      if (how === 'rename') set(name, before)
    }
  }
  return root.value
}

type Tree = Record<string, unknown>

function placesIn(root: Tree): readonly (readonly [Tree, string])[] {
  const places: [Tree, string][] = []
  const collect = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    for (const [key, inner] of Object.entries(node)) {
      places.push([node as Tree, key])
      collect(inner)
    }
  }
  collect(root)
  return places
}
