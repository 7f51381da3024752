import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChatClient, ChatResponse, Content } from '../../packages/core/src/index.ts'
import { foldUpdates, isProviderError } from '../../packages/core/src/index.ts'
import type { ProviderError } from '../../packages/core/src/index.ts'
import { clientRequest, collect } from '../../packages/testing/src/index.ts'
import { answer, RawServer } from '../../packages/testing/src/raw-server.ts'

/** Traffic of a server with a way of its own, and the reading of it. */
interface Habit {
  readonly habit: string
  readonly source: string
  readonly status?: number
  readonly expected: object
}

/** Plays a table of habits of servers, whole and byte by byte, and compares what a client reads. */
export function describeHabits<Given extends Habit>({
  habits,
  least = 1,
  sent,
  open,
  request = () => clientRequest(),
  seen,
  failed,
}: {
  readonly habits: readonly Given[]
  /** Number of habits that the table has at least. */
  readonly least?: number
  /** The text of a stream, or a whole answer. */
  readonly sent: (habit: Given) => string | { readonly whole: string | object }
  readonly open: (server: RawServer, habit: Given) => ChatClient
  readonly request?: () => ReturnType<typeof clientRequest>
  /** Describes an answer besides its text, calls, usage and reason. */
  readonly seen: (contents: readonly Content[], response: ChatResponse) => object
  readonly failed: (error: ProviderError) => object
}): void {
  let server: RawServer
  beforeAll(async () => {
    server = await RawServer.start()
  })
  afterAll(() => server.stop())

  /** Reads an answer and describes it in the words of the table. */
  async function read(habit: Given, size: number): Promise<object> {
    const given = sent(habit)
    const isStream = typeof given === 'string'
    server.handler = answer(isStream ? given : given.whole, {
      size,
      ...(habit.status !== undefined && { status: habit.status }),
      ...(!isStream && { headers: { 'content-type': 'application/json' } }),
    })
    const client = open(server, habit)
    try {
      const response = isStream
        ? foldUpdates(await collect(client.stream(request())))
        : await client.respond(request())
      const { text, functionCalls, messages, usage, finishReason } = response
      const calls = functionCalls.map((call) => `${call.name}(${call.arguments})`)
      const contents = messages.flatMap((message): readonly Content[] => message.contents)
      return { text, calls, usage, finishReason, ...seen(contents, response) }
    } catch (error) {
      if (!isProviderError(error)) throw error
      return { kind: error.kind, ...failed(error) }
    }
  }

  describe('a habit of a server is read as it is meant', () => {
    test.each(habits.map((habit) => [habit.habit, habit.source, habit] as const))(
      '%s (%s)',
      async (_name, _source, habit) => {
        expect(await read(habit, 0)).toMatchObject(habit.expected)
        expect(await read(habit, 1)).toMatchObject(habit.expected)
      },
    )
  })

  test('the table names each habit once', () => {
    expect(new Set(habits.map(({ habit }) => habit)).size).toBe(habits.length)
    expect(habits.length).toBeGreaterThanOrEqual(least)
  })
}

/** Words of what an error was made of. */
export function wordsOf({ cause }: ProviderError): string | undefined {
  return cause instanceof Error ? cause.message : undefined
}
