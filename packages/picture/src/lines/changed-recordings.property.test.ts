import { Agent, jsonSchema, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { runs } from '../../../../tests/support/runs.ts'
import { pictureOf } from '../views/picture-of.ts'
import { replayOf } from '../views/replay-of.ts'
import { textOf } from '../views/text-of.ts'
import { whereTheyPart } from '../views/where-they-part.ts'
import { again, recorded, shout } from '../recording.test-helper.ts'

let recording = ''
beforeAll(async () => {
  const look = tool({
    name: 'look',
    description: 'Looks.',
    parameters: jsonSchema({ type: 'object' }),
    execute: () => 'Seen.',
  })
  const { text } = await recorded({ capture: 'full' }, async (record) => {
    const client = scriptedClient([new Error('down'), callFunction('look'), 'All is well.'])
    const middleware = [record.middleware(), again(), shout()]
    await new Agent({ client, tools: [look], middleware }).run('Hello')
  })
  recording = text
})

const value = fc.oneof(
  fc.constantFrom<unknown>(null, true, -1, 0.5, 3, 1e12, '', 'push', '__proto__', [], {}, [[null]]),
  fc.jsonValue(),
)
const change = fc.record({ line: fc.nat(), place: fc.nat(), value, drops: fc.boolean() })

/** Changes one value of one line, wherever it is. */
function changed(
  lines: unknown[],
  { line, place, value: other, drops }: typeof change extends fc.Arbitrary<infer C> ? C : never,
): void {
  const places: [Record<string, unknown>, string][] = []
  const collect = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return
    for (const key of Object.keys(node)) {
      places.push([node as Record<string, unknown>, key])
      collect((node as Record<string, unknown>)[key])
    }
  }
  collect(lines[line % lines.length])
  const [owner, key] = places[place % Math.max(1, places.length)] ?? [{}, '']
  if (drops) delete owner[key]
  else
    Object.defineProperty(owner, key, {
      value: other,
      enumerable: true,
      configurable: true,
      writable: true,
    })
}

function refusalOf(text: string): string {
  try {
    replayOf(text)
    return 'none'
  } catch (error) {
    return String(error)
  }
}

it('reads a recording that somebody changed, or says that it has no run', () => {
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 4 }), (changes) => {
      const lines: unknown[] = recording
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as unknown)
      for (const each of changes) changed(lines, each)
      const text = lines.map((line) => JSON.stringify(line)).join('\n')

      expect(textOf(text)).toMatch(/\n$/)
      expect(pictureOf(text)).toContain('<html')
      whereTheyPart(text, recording)
      expect(refusalOf(text)).toMatch(/^(?:none|TypeError: replayOf: .*)$/s)
    }),
    { numRuns: runs(1_000) },
  )
})
