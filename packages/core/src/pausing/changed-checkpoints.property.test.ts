import { callFunction, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { AgentOptions, Checkpoint } from '../index.ts'
import {
  Agent,
  agentTool,
  checkpointState,
  jsonSchema,
  LamellaError,
  memoryStore,
  tool,
} from '../index.ts'
import { CheckpointSigner } from '../run/checkpoint-signer.ts'
import { runs } from '../../../../tests/support/runs.ts'

const key = 'a key of this test, sixteen bytes or more'
const otherKey = 'another key that is just as long as that'

/** A process of an agent with a sub-agent; both pause for a person. */
function start(sign?: AgentOptions['sign']) {
  const done: unknown[] = []
  const work = (name: string, approval: 'always' | 'never') =>
    tool({
      name,
      description: '',
      parameters: jsonSchema({ type: 'object', properties: { euro: { type: 'number' } } }),
      approval,
      execute: ({ euro }) => `${name} ${done.push([name, euro])}`,
    })
  const helping = scriptedClient(({ messages }) =>
    messages.at(-1)?.role === 'tool' ? 'Helped.' : callFunction('mail', {}),
  )
  const client = scriptedClient(({ messages }) =>
    messages.at(-1)?.role === 'tool'
      ? 'Done.'
      : [
          callFunction('look', {}),
          callFunction('pay', { euro: 5 }),
          callFunction('helper', { task: 'Mail it.' }),
        ],
  )
  const helper = new Agent({
    name: 'helper',
    client: helping,
    tools: [work('mail', 'always')],
  })
  const agent = new Agent({
    client,
    tools: [work('look', 'never'), work('pay', 'always'), agentTool(helper)],
    store: memoryStore(),
    sign,
  })
  return { agent, done, calls: () => client.requests.length + helping.requests.length }
}

async function pausedWith(sign?: AgentOptions['sign']): Promise<Checkpoint> {
  const { agent } = start(sign)
  return copy((await agent.run('Pay.')).checkpoint!)
}

function copy<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value)) as Value
}

const yes = (checkpoint: Checkpoint): Record<string, unknown> =>
  Object.fromEntries(checkpointState(checkpoint).pending.map(({ id }) => [id, true]))

/** Resumes in a new process, which must refuse and do nothing. */
async function expectRefused(
  checkpoint: unknown,
  answers: Readonly<Record<string, unknown>>,
  sign?: AgentOptions['sign'],
  stream = false,
): Promise<void> {
  const { agent, done, calls } = start(sign)
  const resume = async (): Promise<unknown> =>
    stream
      ? agent.resume(checkpoint as Checkpoint, answers, { stream }).finalResponse()
      : agent.resume(checkpoint as Checkpoint, answers)

  await expect(resume()).rejects.toMatchObject({ code: 'checkpoint_invalid' })

  expect([done, calls()]).toEqual([[], 0])
}

/** Paths of all values of a tree: keys from the outside in. */
function pathsOf(value: unknown, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [
    path,
    ...Object.entries(value).flatMap(([name, inner]) => pathsOf(inner, [...path, name])),
  ]
}

/** A copy with another value at `path`, or without it. */
function changedAt(root: unknown, path: readonly string[], change: Change): unknown {
  const changed = copy(root)
  const holder = path.slice(0, -1).reduce((value, name) => value[name]!, changed as Tree)
  const last = path.at(-1)!
  if (change === remove && Array.isArray(holder)) holder.splice(Number(last), 1)
  else if (change === remove) delete holder[last]
  else holder[last] = change(holder[last]) as Tree
  return changed
}

type Tree = { [name: string]: Tree }
type Change = (value: unknown) => unknown
const remove: Change = () => undefined

function altered(value: unknown): unknown {
  if (typeof value === 'string') return `${value}x`
  if (typeof value === 'number') return value + 1
  if (typeof value === 'boolean') return !value
  return Array.isArray(value) ? [...value, 'x'] : { ...(value as object), x: 1 }
}

describe('a signed checkpoint', () => {
  it('resumes in another process with the key', async () => {
    const checkpoint = await pausedWith(key)
    const { agent, done } = start(key)

    const { status } = await agent.resume(checkpoint, yes(checkpoint))

    expect(status).toBe('completed')
    expect(done).toEqual([
      ['pay', 5],
      ['mail', undefined],
    ])
  })

  it('is rejected before anything runs if any of its fields is changed or missing', async () => {
    const checkpoint = await pausedWith(key)
    const answers = yes(checkpoint)

    for (const path of pathsOf(checkpoint).slice(1)) {
      for (const change of [altered, remove]) {
        // oxlint-disable-next-line no-await-in-loop
        await expectRefused(changedAt(checkpoint, path, change), answers, key)
      }
    }
  })

  it('is rejected in a streamed run, too', async () => {
    const checkpoint = await pausedWith(key)
    const changed = JSON.parse(JSON.stringify(checkpoint).replace('euro\\":5', 'euro\\":7'))

    await expectRefused(changed, yes(checkpoint), key, true)
  })

  it('is rejected with another key, and so is one that nobody has signed', async () => {
    const signed = await pausedWith(key)
    const plain = await pausedWith()

    await expectRefused(signed, yes(signed), otherKey)
    await expectRefused(signed, yes(signed))
    await expectRefused(plain, yes(plain), key)
  })

  it('outlives a change of keys as long as the old one is listed', async () => {
    const before = await pausedWith(key)
    const after = await pausedWith([otherKey, key])
    const { agent } = start([otherKey, new TextEncoder().encode(key)])

    expect((await agent.resume(before, yes(before))).status).toBe('completed')
    await expectRefused(after, yes(after), key)
  })

  it('may have its fields in another order', async () => {
    const turned = (value: unknown): unknown => {
      if (Array.isArray(value)) return value.map(turned)
      if (typeof value !== 'object' || value === null) return value
      const entries = Object.entries(value).toReversed()
      return Object.fromEntries(entries.map(([name, inner]) => [name, turned(inner)]))
    }
    const checkpoint = turned(await pausedWith(key)) as Checkpoint

    const { status } = await start(key).agent.resume(checkpoint, yes(checkpoint))

    expect(status).toBe('completed')
  })

  it('leaves its requests open when a changed one was rejected', async () => {
    const checkpoint = await pausedWith(key)
    const { agent } = start(key)
    const changed = changedAt(checkpoint, ['input', '0', 'role'], altered) as Checkpoint
    await expect(agent.resume(changed, yes(checkpoint))).rejects.toThrow('was changed')

    expect((await agent.resume(checkpoint, yes(checkpoint))).status).toBe('completed')
  })
})

describe('the keys of an agent', () => {
  it('go along with a copy of the agent, and cannot be read from it', async () => {
    const { agent } = start(key)
    const { client, tools, store } = agent
    const other = new Agent({ client, tools, store, sign: agent.sign })
    const { checkpoint } = await other.run('Pay.')

    expect((await agent.resume(checkpoint!, yes(checkpoint!))).status).toBe('completed')
    expect(JSON.stringify(agent.sign)).toBe('{}')
    expect(Object.getOwnPropertyNames(agent.sign)).toEqual([])
  })

  it('are texts or bytes of sixteen bytes or more', () => {
    expect(() => start('too short')).toThrow(RangeError)
    expect(() => start([key, new Uint8Array(16)])).not.toThrow()
    expect(() => start([key, new Uint8Array(15)])).toThrow('at least 16 bytes long')
    expect(() => start(7 as never)).toThrow('key of `sign` must be a text')
  })
})

const numRuns = runs(400)

const values = fc.constantFrom<unknown>(
  null,
  true,
  0,
  '',
  'x',
  [],
  {},
  { kind: 'state' },
  { toString: 1 },
  JSON.parse('{"__proto__":{"paused":false}}'),
)
const damages: fc.Arbitrary<Change> = fc.oneof(
  values.map((value) => () => value),
  fc.constant(remove),
  fc.constant<Change>((value) => [value]),
  fc.constant<Change>((value) => ({ value })),
  fc.constant<Change>((value) => (Array.isArray(value) ? value[0] : value)),
  fc.constant<Change>((value) => {
    const hidden = JSON.parse('{"__proto__":{"approved":true}}') as object
    return typeof value === 'object' && !Array.isArray(value) ? { ...value, ...hidden } : hidden
  }),
  fc.constant<Change>((value) => (Array.isArray(value) ? value.toReversed() : altered(value))),
)

describe('a checkpoint without a signature', () => {
  it('is rejected before anything runs, whatever is damaged', async () => {
    const checkpoint = await pausedWith()
    const answers = yes(checkpoint)
    const paths = pathsOf(checkpoint).slice(1)
    const asText = JSON.stringify(checkpoint)

    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...paths),
        damages,
        fc.boolean(),
        async (path, damage, stream) => {
          const damaged = changedAt(checkpoint, path, damage)
          fc.pre(JSON.stringify(damaged) !== asText)

          await expectRefused(damaged, answers, undefined, stream)
        },
      ),
      { numRuns },
    )
  })

  it.each([
    undefined,
    null,
    7,
    'text',
    [],
    {},
    { version: 1 },
    { version: { toString: 1 } },
    { version: 1, input: [], journal: [] },
  ])('that is none is rejected: %j', async (value) => {
    await expectRefused(value, {})
  })
})

/** A checkpoint that somebody has changed who can also make its checksum. */
async function forged(changed: unknown): Promise<Checkpoint> {
  const { signature: _, ...unsigned } = changed as Checkpoint
  return new CheckpointSigner([]).sign(unsigned)
}

describe('a checkpoint with a checksum that somebody has made again', () => {
  it('runs as it reads, or is rejected with a code, before anything runs', async () => {
    const checkpoint = await pausedWith()
    const answers = yes(checkpoint)
    const paths = pathsOf(checkpoint).slice(1)
    const damage = fc.tuple(fc.constantFrom(...paths), damages)

    await fc.assert(
      fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 3 }), async (all) => {
        let damaged: unknown = checkpoint
        for (const [path, change] of all) {
          if (path.every((_, at) => holds(damaged, path.slice(0, at + 1))))
            damaged = changedAt(damaged, path, change)
        }
        const { agent, done } = start()
        const resume = async (): Promise<unknown> => agent.resume(await forged(damaged), answers)
        const error: unknown = await resume().catch((failure: unknown) => failure)

        expect(error instanceof Error ? error.name : 'none').not.toBe('TypeError')
        expect(LamellaError.is(error, 'checkpoint_invalid') ? done : []).toEqual([])
      }),
      { numRuns },
    )
  })

  it.each([
    [['input', '0', 'contents'], 'input[0].contents'],
    [['journal', '0', 'messages', '0', 'role'], 'journal[0].messages[0].role'],
    [['journal', '0', 'kind'], 'journal[0]'],
    [['journal', '1', 'response', 'messages'], 'journal[1].response.messages'],
  ])('is rejected with the place that does not read: %j', async (path, place) => {
    const checkpoint = await forged(changedAt(await pausedWith(), path, remove))

    await expectRefused(checkpoint, yes(checkpoint))
    await expect(start().agent.resume(checkpoint, {})).rejects.toThrow(`at \`${place}\``)
  })

  it.each([['pending'], ['usage'], ['id'], ['paused']])(
    'cannot be asked for its requests without %s',
    async (name) => {
      const { journal, ...rest } = copy(await pausedWith())
      const { [name as 'id']: _, ...state } = checkpointState({ ...rest, journal })
      const last = journal.length - 1
      const damaged = { ...rest, journal: [...journal.slice(0, last), state] } as Checkpoint

      expect(() => checkpointState(damaged)).toThrow(`at \`journal[${last}].${name}\``)
    },
  )
})

function holds(root: unknown, path: readonly string[]): boolean {
  let value = root
  for (const name of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return false
    value = (value as Tree)[name]
  }
  return true
}
