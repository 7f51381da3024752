import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ChatResponseUpdate } from './chat-response.ts'
import { chatResponse, toUpdates } from './chat-response.ts'
import type { Content, FunctionCallContent } from './content.ts'
import type { Message, Role } from './message.ts'
import { normalizeResponse } from './normalize-response.ts'
import { foldUpdates, ResponseFold } from './response-fold.ts'

const word = fc.string({ maxLength: 6 })

/** A record of the given fields, each of which may be missing. */
function some<T extends object>(
  model: { [K in keyof T]: fc.Arbitrary<T[K]> },
): fc.Arbitrary<Partial<T>> {
  return fc.record(model, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>
}

const bag = fc.dictionary(fc.constantFrom('x', 'y', '__proto__'), fc.integer(), { maxKeys: 2 })

/** Fields that may come late in the pieces of a part. */
const marks = some({
  annotations: fc.array(fc.record({ type: word }), { maxLength: 2 }),
  metadata: bag,
  providerData: word,
})

const origin = some({ origin: fc.record({ provider: fc.constantFrom('p', 'q') }) })

function part(
  fields: fc.Arbitrary<object>,
  ...more: fc.Arbitrary<object>[]
): fc.Arbitrary<Content> {
  return fc.tuple(fields, ...more).map((all) => Object.assign({}, ...all) as Content)
}

function textPart(type: 'text' | 'refusal' | 'reasoning'): fc.Arbitrary<Content> {
  return part(fc.record({ type: fc.constant(type), text: word }), marks, origin)
}

const reasoningPart = part(
  textPart('reasoning'),
  some({
    id: fc.constantFrom('r1', 'r2'),
    kind: fc.constantFrom('summary', 'raw'),
    protected: word,
  }),
)

const callPart = part(
  fc.record({
    type: fc.constant('function-call'),
    callId: fc.constantFrom('c1', 'c2', 'c3'),
    name: fc.constantFrom('add', 'sub'),
    arguments: word,
  }),
  some({ informational: fc.boolean() }),
  marks,
  origin,
)

const wholePart: fc.Arbitrary<Content> = fc.oneof(
  fc.record({ type: fc.constant('hosted'), name: word, data: word }),
  fc.record({
    type: fc.constant('hosted'),
    name: word,
    id: fc.constantFrom('h1', 'h2'),
    data: word,
  }),
  fc.record({ type: fc.constant('uri'), uri: word }),
  fc.record({ type: fc.constant('function-result'), callId: word, contents: fc.constant([]) }),
  fc.record({ type: fc.constant('usage'), usage: fc.record({ outputTokens: fc.nat(9) }) }),
  fc.record({ type: fc.constant('hologram'), text: word }) as unknown as fc.Arbitrary<Content>,
)

const anyPart = fc.oneof(
  { weight: 3, arbitrary: textPart('text') },
  { weight: 1, arbitrary: textPart('refusal') },
  { weight: 2, arbitrary: reasoningPart },
  { weight: 2, arbitrary: callPart },
  { weight: 2, arbitrary: wholePart },
)

/** Ids are few, so that they meet. */
const messageLists: fc.Arbitrary<Message[]> = fc.array(
  fc.oneof(
    messageOf(fc.constantFrom('assistant', 'assistant', 'user'), anyPart),
    messageOf(
      fc.constant('tool'),
      anyPart.filter(({ type }) => type !== 'function-call'),
    ),
  ),
  { maxLength: 5 },
)

function messageOf(
  role: fc.Arbitrary<Role>,
  content: fc.Arbitrary<Content>,
): fc.Arbitrary<Message> {
  return part(
    fc.record({
      id: fc.constantFrom('m1', 'm2', 'm3'),
      role,
      contents: fc.array(content, { maxLength: 5 }),
    }),
    some({ authorName: word, createdAt: word, metadata: bag }),
  ) as unknown as fc.Arbitrary<Message>
}

/** Cuts a string into pieces, which may be empty. */
function cut(whole: string, places: readonly number[]): string[] {
  const at = [0, ...places.map((place) => place % (whole.length + 1)).toSorted((a, b) => a - b)]
  return at.map((from, nth) => whole.slice(from, at[nth + 1] ?? whole.length))
}

/** The pieces a provider may send a part in: what it is comes first, what is found out comes last. */
function piecesOf(content: Content, places: readonly number[]): Content[] {
  if (content.type === 'function-call') {
    const {
      arguments: whole,
      informational,
      annotations,
      metadata,
      providerData,
      ...first
    } = content
    const last = { informational, annotations, metadata, providerData }
    const { type, callId } = first
    return cut(whole, places).map((piece, nth, all) => ({
      ...(nth === 0 ? first : { type, callId, name: '', index: first.index }),
      ...(nth === all.length - 1 && last),
      arguments: piece,
    }))
  }
  if (content.type === 'text' || content.type === 'refusal' || content.type === 'reasoning') {
    const { text: whole, annotations, metadata, providerData, ...first } = content
    const last = { annotations, metadata, providerData }
    return cut(whole, places).map(
      (piece, nth, all): Content => ({
        ...(nth === 0 ? first : { type: first.type }),
        ...(nth === all.length - 1 && last),
        text: piece,
      }),
    )
  }
  return [content]
}

const places = fc.array(fc.nat(99), { maxLength: 4 })

describe('however the messages of a response are cut into updates', () => {
  test('they fold to the normalised response', () => {
    const cuts = fc.infiniteStream(places)
    const choices = fc.infiniteStream(fc.boolean())

    fc.assert(
      fc.property(messageLists, cuts, choices, (given, cutAt, choice) => {
        const updates: ChatResponseUpdate[] = []
        let calls = 0
        for (const { id, role, contents, ...rest } of given) {
          const name = { messageId: id, role }
          updates.push({ ...rest, ...name, contents: [] })
          let batch: Content[] = []
          const counted = contents.map((content) =>
            content.type === 'function-call' ? { ...content, index: calls++ } : content,
          )
          for (const piece of counted.flatMap((content) => piecesOf(content, cutAt.next().value))) {
            batch.push(piece)
            if (choice.next().value) continue
            const isNamed = role === 'tool' || choice.next().value
            updates.push({ contents: batch, ...(isNamed && name) })
            batch = []
          }
          updates.push({ ...name, contents: batch })
        }

        const folded = foldUpdates(updates)

        expect(folded).toEqual(normalizeResponse(chatResponse({ messages: given })))
      }),
    )
  })

  test('the updates of a response fold to the normalised response', () => {
    fc.assert(
      fc.property(
        messageLists,
        some({ usage: fc.record({ outputTokens: fc.nat() }), id: word }),
        (given, facts) => {
          const response = chatResponse({ ...facts, messages: given })

          expect(foldUpdates(toUpdates(response))).toEqual(normalizeResponse(response))
        },
      ),
    )
  })

  test('a folded response is in its normal form', () => {
    fc.assert(
      fc.property(messageLists, (given) => {
        const folded = foldUpdates(toUpdates(chatResponse({ messages: given })))

        expect(normalizeResponse(folded)).toBe(folded)
      }),
    )
  })
})

describe('however calls that are made at once are interleaved', () => {
  interface Plan {
    readonly arguments: string
    readonly places: readonly number[]
    readonly namedBy: 'id' | 'index' | 'late id'
  }

  const plans = fc.array(
    fc.record({
      arguments: word,
      places,
      namedBy: fc.constantFrom<Plan['namedBy'][]>('id', 'index', 'late id'),
    }),
    { minLength: 1, maxLength: 6 },
  )

  function fragmentsOf(
    { arguments: whole, places: at, namedBy }: Plan,
    nth: number,
  ): FunctionCallContent[] {
    return cut(whole, at).map((piece, place, all) => {
      const isTold = namedBy === 'id' || place === (namedBy === 'index' ? 0 : all.length - 1)
      return {
        type: 'function-call',
        callId: isTold ? `c${nth}` : '',
        name: place === 0 ? `tool${nth}` : '',
        arguments: piece,
        ...(namedBy !== 'id' && { index: nth }),
      }
    })
  }

  test('each call gets its own arguments, in the order in which the calls of a message began', () => {
    const picks = fc.infiniteStream(fc.nat())

    fc.assert(
      fc.property(plans, picks, fc.integer({ min: 1, max: 3 }), (calls, pick, messageCount) => {
        const queues = calls.map((plan, nth) => ({ nth, fragments: fragmentsOf(plan, nth) }))
        const expected = new Map<string, FunctionCallContent[]>()
        const updates: ChatResponseUpdate[] = []
        while (queues.length > 0) {
          const place = pick.next().value % queues.length
          const { nth, fragments } = queues[place]!
          const messageId = `m${nth % messageCount}`
          const whole: FunctionCallContent = {
            type: 'function-call',
            callId: `c${nth}`,
            name: `tool${nth}`,
            arguments: calls[nth]!.arguments,
          }
          const begun = expected.get(messageId) ?? []
          expected.set(messageId, begun)
          if (!begun.some(({ callId }) => callId === whole.callId)) begun.push(whole)
          updates.push({ contents: [fragments.shift()!], messageId })
          if (fragments.length === 0) queues.splice(place, 1)
        }

        const { messages } = foldUpdates(updates)

        expect(messages).toEqual(
          Array.from(expected, ([id, contents]) => ({ id, role: 'assistant', contents })),
        )
      }),
    )
  })
})

describe('wherever a call begins anew', () => {
  const updates = fc.array(
    part(
      fc.record({
        contents: fc.array(
          anyPart.filter((content) => content.type !== 'function-result'),
          { maxLength: 3 },
        ),
        role: fc.constantFrom('assistant', 'user'),
        messageId: fc.constantFrom('m1', 'm2', 't1'),
      }),
      some({
        metadata: bag,
        usage: some({ inputTokens: fc.nat(9), outputTokens: fc.nat(9) }),
        model: word,
        responseId: word,
        finishReason: word,
      }),
    ) as unknown as fc.Arbitrary<ChatResponseUpdate>,
    { maxLength: 4 },
  )
  const anyUpdates = updates.map((all) =>
    all.map(
      (update, nth): ChatResponseUpdate => (nth % 2 === 1 ? { ...update, role: 'tool' } : update),
    ),
  )
  const results: ChatResponseUpdate = {
    contents: [{ type: 'function-result', callId: 'c1', contents: [] }],
    role: 'tool',
    messageId: 't0',
  }

  function fold(...steps: readonly (readonly ChatResponseUpdate[] | 'mark')[]) {
    const all = new ResponseFold()
    for (const step of steps) {
      if (step === 'mark') all.mark()
      else for (const update of step) all.add(update)
    }
    return all.response()
  }

  test('a restart of the call leaves nothing that came after the mark', () => {
    fc.assert(
      fc.property(anyUpdates, anyUpdates, anyUpdates, (before, dropped, after) => {
        const restarted = fold(before, 'mark', dropped, [{ contents: [], restart: true }], after)

        expect(restarted).toEqual(fold(before, 'mark', after))
      }),
    )
  })

  test('without a mark it leaves nothing that came after the last tool results', () => {
    fc.assert(
      fc.property(anyUpdates, updates, updates, (before, dropped, after) => {
        const restart: ChatResponseUpdate = { contents: [], restart: true, scope: 'call' }

        const restarted = fold(before, [results], dropped, [restart], after)

        expect(restarted).toEqual(fold(before, [results], after))
      }),
    )
  })

  test('a restart of the run leaves nothing', () => {
    fc.assert(
      fc.property(anyUpdates, anyUpdates, anyUpdates, (before, dropped, after) => {
        const restart: ChatResponseUpdate = { contents: [], restart: true, scope: 'run' }

        const restarted = fold(before, 'mark', dropped, [restart], after)

        expect(restarted).toEqual(fold(after))
      }),
    )
  })
})
