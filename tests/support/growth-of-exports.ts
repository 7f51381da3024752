import { expect, test } from 'vitest'
import type { MiddlewareInput } from '../../packages/core/src/index.ts'
import { Agent, jsonSchema, message, tool } from '../../packages/core/src/index.ts'
import { callFunction, scriptedClient } from '../../packages/testing/src/index.ts'
import { growthExponent, hostilePieces, linear } from './growth-exponent.ts'

/** Work on a text, by the exported function that does it. */
export interface GrowthOfExports {
  /** Functions of a text. Starts such as `https://` reach what a bare hostile text does not. */
  readonly texts?: Readonly<Record<string, (text: string) => unknown>>
  /** Functions that make a middleware. */
  readonly middlewares?: Readonly<Record<string, () => MiddlewareInput>>
  /** Functions that read no text. */
  readonly others?: readonly string[]
}

/**
 * Tests that the work of every function that a package exports grows with the length of a hostile text, and no
 * faster. A function that is not listed fails.
 */
export function testGrowthOfExports(
  exports: Readonly<Record<string, unknown>>,
  { texts = {}, middlewares = {}, others = [] }: GrowthOfExports,
): void {
  test('every exported function is measured, or reads no text', () => {
    const all = Object.keys(exports).filter((name) => typeof exports[name] === 'function')
    const listed = [...Object.keys(texts), ...Object.keys(middlewares), ...others]

    // A function may have several entries, such as `sql (sqlite)`.
    const measured = new Set(listed.map((entry) => entry.replace(/ .*/, '')))
    expect([...measured].toSorted()).toEqual(all.toSorted())
  })

  for (const [name, work] of Object.entries(texts)) {
    test(`the work of ${name} is linear`, async () => {
      expect(await tooFast(work, hostilePieces)).toEqual([])
    }, 600_000)
  }
  const every = 9
  const some = hostilePieces.filter((_, at) => at % every === 0)
  for (const [name, make] of Object.entries(middlewares)) {
    test.each([false, true])(
      `the work of a run with ${name} is linear, with stream: %s`,
      async (stream) => {
        const work = (text: string) => runWith(make(), text, stream)
        // The texts are longer than what any guardrail holds back of a stream.
        expect(await tooFast(work, some, 20_000)).toEqual([])
      },
      600_000,
    )
  }
}

/** Returns the pieces on whose repetition the work of some work grows faster than its length. */
export async function tooFast(
  work: (text: string) => unknown,
  pieces: readonly string[],
  chars?: number,
): Promise<readonly string[]> {
  const found: string[] = []
  for (const piece of pieces) {
    // oxlint-disable-next-line no-await-in-loop
    const exponent = await growthExponent(work, piece, chars)
    if (exponent > linear) found.push(`${piece} ${exponent}`)
  }
  return found
}

/** A run in which a text is input, argument, result and answer. */
async function runWith(middleware: MiddlewareInput, text: string, stream: boolean): Promise<void> {
  const look = tool({
    name: 'look',
    description: 'Looks.',
    parameters: jsonSchema({ type: 'object', properties: { path: { type: 'string' } } }),
    execute: () => text,
  })
  const client = scriptedClient([callFunction('look', { path: text }), text], { chunk: 1000 })
  const agent = new Agent({ client, tools: [look], middleware })
  const input = message('user', text)
  // What a middleware blocks was read.
  await (stream ? agent.run(input, { stream: true }).finalResponse() : agent.run(input))
}
