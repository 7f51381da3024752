import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FunctionCallContent, ProviderError } from '@lamella/core'
import { foldUpdates } from '@lamella/core'
import type { CallPiece } from './arriving-calls.ts'
import { ArrivingCalls } from './arriving-calls.ts'

const origin = { provider: 'acme' }
const toolNames = ['pay', 'pay_all', 'ask']

/** A call as the model made it, and the habits of the server that sends it. */
interface Sent {
  readonly name: string
  readonly args: Readonly<Record<string, unknown>>
  /** Cuts of the JSON text, as fractions of it. */
  readonly cuts: readonly number[]
  readonly repeatsName: boolean
  readonly repeatsId: boolean
  readonly cutsName: boolean
  readonly noise: 'none' | 'empty in front' | 'empty behind' | 'whole again' | 'whole at the end'
}

const value = fc.oneof(fc.string(), fc.integer(), fc.constant({}), fc.constant(['}']), fc.boolean())
const sent: fc.Arbitrary<Sent> = fc.record({
  name: fc.constantFrom(...toolNames),
  args: fc.dictionary(fc.string({ minLength: 1 }), value, { maxKeys: 3 }),
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 5 }),
  repeatsName: fc.boolean(),
  repeatsId: fc.boolean(),
  cutsName: fc.boolean(),
  noise: fc.constantFrom(
    'none',
    'empty in front',
    'empty behind',
    'whole again',
    'whole at the end',
  ),
})

/** The pieces of one call, in their order. */
function piecesOf(call: Sent, place: number): CallPiece[] {
  const { name, args, cuts, noise } = call
  const id = `id-${place}`
  const text = JSON.stringify(args)
  const ends = [...cuts.map((cut) => Math.round(cut * text.length)), text.length]
  ends.sort((left, right) => left - right)
  const parts = ends.map((end, at) => text.slice(ends[at - 1] ?? 0, end))
  const isNamed = !call.cutsName
  const start: CallPiece[] = isNamed
    ? [{ place, id, name, arguments: noise === 'empty in front' ? '{}' : '' }]
    : [
        { place, id, name: name.slice(0, 2) },
        { place, id: null, name: name.slice(2) },
      ]
  const pieces = [
    ...start,
    ...parts.map((part) => ({
      place,
      id: call.repeatsId ? id : '',
      name: call.repeatsName && isNamed ? name : null,
      arguments: part,
    })),
  ]
  if (noise === 'empty behind') pieces.push({ place, arguments: '{}' })
  if (noise === 'whole again') pieces.push({ place, arguments: text })
  if (noise === 'whole at the end') pieces.push({ place, id, name, arguments: args, isWhole: true })
  return pieces
}

/** All pieces in one of their orders: those of one call stay in theirs. */
function mixed(lists: readonly CallPiece[][], order: readonly number[]): CallPiece[] {
  const rest = lists.map((list) => [...list])
  const all: CallPiece[] = []
  for (let turn = 0; rest.some((list) => list.length > 0); turn++) {
    const open = rest.filter((list) => list.length > 0)
    all.push(open[(order[turn % order.length] ?? 0) % open.length]!.shift()!)
  }
  return all
}

function arrived(events: readonly (readonly CallPiece[])[]): readonly FunctionCallContent[] {
  const calls = new ArrivingCalls(toolNames)
  const contents = [...events.flatMap((pieces) => calls.add(pieces, origin)), ...calls.end(origin)]
  return foldUpdates(contents.map((content) => ({ contents: [content] }))).functionCalls
}

const inWords = (call: FunctionCallContent): string => {
  const { callId } = call.providerData as { callId: string }
  return `${callId} ${call.name} ${call.arguments || '{}'}`
}

test('any cut, order and repetition of pieces gives the same calls', () => {
  fc.assert(
    fc.property(
      fc.array(sent, { minLength: 1, maxLength: 4 }),
      fc.array(fc.nat(7), { minLength: 1, maxLength: 20 }),
      (all, order) => {
        const pieces = mixed(all.map(piecesOf), order)

        const calls = arrived(pieces.map((piece) => [piece]))

        expect(calls.map(inWords).toSorted()).toEqual(
          all.map(({ name, args }, at) => `id-${at} ${name} ${JSON.stringify(args)}`).toSorted(),
        )
        expect(new Set(calls.map(({ callId }) => callId)).size).toBe(all.length)
      },
    ),
  )
})

test('calls with one id are one call if they are equal, and all that are not stay', () => {
  const made = fc.record({
    name: fc.constantFrom('pay', 'ask'),
    args: fc.constantFrom('{"n":1}', '{"n":2}', '{ "n": 1 }'),
  })
  fc.assert(
    fc.property(fc.array(made, { minLength: 1, maxLength: 6 }), (all) => {
      const events = all.map(({ name, args }, place) => [
        { place, id: 'call_0', name, arguments: args },
      ])

      const calls = arrived(events)

      const different = new Set(all.map(({ name, args }) => `${name}${args.replaceAll(' ', '')}`))
      expect(calls).toHaveLength(different.size)
      expect(
        new Set(calls.map((call) => `${call.name}${call.arguments.replaceAll(' ', '')}`)),
      ).toEqual(different)
    }),
  )
})

test('pieces of any shape make calls or a failure, never arguments that nobody sent', () => {
  const shape = fc.oneof(fc.constant(null), fc.constant(''), fc.constantFrom('a', 'b'), fc.nat(1))
  const piece = fc.record({
    place: fc.nat(1),
    id: shape,
    name: shape,
    arguments: fc.oneof(fc.constant(null), fc.constantFrom('{', '}', '{}', '"a":', '1', '{"a":1}')),
    isWhole: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
      const hasText = pieces.some(({ arguments: text }) => text !== null && text !== '{}')
      let calls: readonly FunctionCallContent[] = []
      let failure: Partial<ProviderError> = { kind: 'server' }
      try {
        calls = arrived(pieces.map((each) => [each]))
      } catch (error) {
        failure = error as ProviderError
      }

      expect(failure.kind).toBe('server')
      const texts = calls.map((call) => call.arguments)
      expect(hasText || texts.every((text) => text === '' || text === '{}')).toBe(true)
    }),
  )
})
