import type { ChatClient, ChatResponse, MessageInit } from '@lamella/core'
import { foldUpdates, isProviderError } from '@lamella/core'
import { toMessages } from '@lamella/core/authoring'
import { listOf, recordOf } from '@lamella/transport'
import { demand, demandSame } from '../contracts/contract-assertions.ts'
import type { ContractCheck, ContractSuite } from '../contracts/contract-suite.ts'
import { contractSuite } from '../contracts/contract-suite.ts'
import { clientRequest, collect } from '../scripted/client-request.ts'
import type { ModelServer } from './model-server.ts'
import { startModelServer } from './model-server.ts'
import type { WireObject } from './wire-api.ts'

/** Options of `completionsContract` and `messagesContract`. */
export interface WireContractOptions {
  /**
   * Name of the suite.
   * @default the name of the protocol, and `contract`
   */
  readonly name?: string | undefined
  /** Creates a client of this server for each check. */
  readonly create: (server: Pick<ModelServer, 'url' | 'baseURL'>) => ChatClient
  /** Names of checks to skip. */
  readonly except?: readonly string[] | undefined
}

/** An answer as it goes over the wire: the text of a stream, or the body of a whole answer. */
export type WireAnswer = { readonly sse: string } | { readonly whole: WireObject }

/** Facts of an answer as a client read it. */
export interface ReadAnswer {
  readonly text?: string
  /** Each call as `name(arguments)`. */
  readonly calls?: readonly string[]
  /** Kind of the `ProviderError` that the call failed with. */
  readonly failure?: string
}

/** An answer that servers give, and what it must be read as. */
export interface WireHabit {
  readonly name: string
  readonly answers: readonly WireAnswer[]
  readonly expected: ReadAnswer
}

/** A conversation, and what the request that continues it must be. */
export interface WireContinuation {
  readonly name: string
  /** Answer to the first request, if the model made one. */
  readonly answer?: WireAnswer
  /** Messages behind the question, given those of the answer. */
  readonly history: (answered: readonly MessageInit[]) => readonly MessageInit[]
  /** Throws a `ContractViolation` for a body that the server would refuse. */
  readonly verify: (messages: readonly WireObject[], body: string) => void
}

/** The messages of an answer, and a result for each of its calls: clients give those ids of their own. */
export function answeredWith(
  answered: readonly MessageInit[],
  ...results: readonly string[]
): readonly MessageInit[] {
  const calls = toMessages(answered)
    .flatMap(({ contents }) => contents)
    .filter((content) => content.type === 'function-call')
  const contents = calls.map(({ callId }, at) => ({
    type: 'function-result' as const,
    callId,
    contents: [{ type: 'text' as const, text: results[at] ?? '' }],
  }))
  return [...answered, { role: 'tool', contents }]
}

/** A protocol with its habits. */
export interface WireContract {
  readonly habits: readonly WireHabit[]
  readonly continuations: readonly WireContinuation[]
  /** Answer to a request that continues a conversation. */
  readonly end: WireAnswer
}

/** Makes the suite of a protocol. */
export function wireContract(
  protocol: string,
  { habits, continuations, end }: WireContract,
  { name = `${protocol} contract`, create, except }: WireContractOptions,
): ContractSuite {
  return contractSuite(
    name,
    [
      ...habits.map((habit) => habitCheck(habit, create)),
      ...continuations.map((each) => continuationCheck(each, end, create)),
    ],
    except,
  )
}

function habitCheck(
  { name, answers, expected }: WireHabit,
  create: WireContractOptions['create'],
): ContractCheck {
  const run = async (): Promise<void> => {
    for (const answer of answers) {
      await withServer(
        () => answer,
        async (server) => {
          const client = create(server)
          let read: ReadAnswer
          try {
            const { text, functionCalls } = await ask(client, answer)
            const calls = functionCalls.map((call) => `${call.name}(${call.arguments})`)
            const ids = new Set(functionCalls.map(({ callId }) => callId))
            demand(
              ids.size === calls.length && !ids.has(''),
              'each call must have an id of its own',
            )
            read = { text, calls }
          } catch (error) {
            if (!isProviderError(error)) throw error
            read = { failure: error.kind }
          }
          const facts = Object.keys(expected) as (keyof ReadAnswer)[]
          const got = Object.fromEntries(facts.map((fact) => [fact, read[fact]]))
          demandSame(got, expected, 'sse' in answer ? 'the streamed answer' : 'the whole answer')
        },
      )
    }
  }
  return { name, run }
}

function continuationCheck(
  { name, answer, history, verify }: WireContinuation,
  end: WireAnswer,
  create: WireContractOptions['create'],
): ContractCheck {
  const run = async (): Promise<void> => {
    const first = answer ?? end
    await withServer(
      (index) => (index === 0 ? first : end),
      async (server) => {
        const client = create(server)
        const question: MessageInit = { role: 'user', contents: [{ type: 'text', text: 'Hello.' }] }
        const { messages } = await ask(client, first)
        // As an application keeps it.
        const kept = JSON.parse(JSON.stringify(messages)) as readonly MessageInit[]
        const continued = [question, ...history(answer === undefined ? [] : kept)]

        await ask(client, end, continued)

        const { body } = server.requests.at(-1)!
        const sent = listOf(recordOf(body)['messages']).map(recordOf)
        verify(sent, JSON.stringify(body))
      },
    )
  }
  return { name, run }
}

async function ask(
  client: ChatClient,
  answer: WireAnswer,
  input: readonly MessageInit[] = [{ role: 'user', contents: [{ type: 'text', text: 'Hello.' }] }],
): Promise<ChatResponse> {
  const request = clientRequest(toMessages(input))
  return 'sse' in answer
    ? foldUpdates(await collect(client.stream(request)))
    : client.respond(request)
}

/** Node 20 and 22 do not know `await using`. */
async function withServer(
  answerOf: (index: number) => WireAnswer,
  work: (server: ModelServer) => Promise<void>,
): Promise<void> {
  const server = await startModelServer({
    failures: ({ index }) => {
      const answer = answerOf(index)
      if ('whole' in answer) return { body: answer.whole }
      return { body: answer.sse, headers: { 'content-type': 'text/event-stream; charset=utf-8' } }
    },
  })
  try {
    await work(server)
  } finally {
    await server.close()
  }
}
