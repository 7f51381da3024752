import type { AgentResponse, AgentResponseUpdate, MiddlewareInput } from '@lamella/core'
import { Agent, createSession, tool } from '@lamella/core'
import { scriptedClient } from '../scripted/scripted-client.ts'
import { callFunction } from '../scripted/scripted-step.ts'
import { demand, demandSame, searchIn } from './contract-assertions.ts'
import type { ContractCheck } from './contract-suite.ts'

/** Text of an answer that a guardrail must act on. */
interface ForbiddenAnswer {
  readonly text: string
  readonly forbidden: string
}

/**
 * Creates the checks of answers to calls that do not run: the reason of a rejection and the result
 * of a declared tool, in each way that an application can pass them.
 */
export function answerChecks(
  create: () => MiddlewareInput,
  answers: readonly ForbiddenAnswer[],
): readonly ContractCheck[] {
  return answers.flatMap((answer, index) =>
    kinds.map((kind) => ({
      name: `answers: acts on text ${index + 1} as ${kind}`,
      run: async () => {
        for (const way of ways) {
          for (const isStreamed of [false, true]) {
            await demandActed(create(), kind, way, isStreamed, answer)
          }
        }
      },
    })),
  )
}

const kinds = ['the reason of a rejection', 'the result of a declared tool'] as const
const ways = ['resume', 'answers of a run'] as const

async function demandActed(
  middleware: MiddlewareInput,
  kind: (typeof kinds)[number],
  way: (typeof ways)[number],
  isStreamed: boolean,
  { text, forbidden }: ForbiddenAnswer,
): Promise<void> {
  const isRejection = kind === kinds[0]
  const asked = tool({
    name: 'test_tool',
    description: 'Is answered from outside.',
    ...(isRejection && { approval: 'always', execute: () => 'done' }),
  })
  const client = scriptedClient([callFunction('test_tool', {}), 'Done.', 'Done.'])
  const agent = new Agent({ client, tools: [asked], middleware })
  const session = createSession()
  const paused = await agent.run('Hello.', { session })
  const request = paused.pending[0]
  if (request === undefined || paused.checkpoint === undefined) {
    throw new TypeError(`the run must pause, but is ${paused.status}`)
  }
  const answer = isRejection ? { approved: false, reason: text } : text
  const id = request.kind === 'function-call' ? request.call.callId : request.id
  const start = (stream: true) => {
    if (way === 'resume') {
      return agent.resume(paused.checkpoint!, { [request.id]: answer }, { session, stream })
    }
    return agent.run([], { session, answers: { [id]: answer }, stream })
  }

  const updates: AgentResponseUpdate[] = []
  const started = start(isStreamed as true)
  if (isStreamed) for await (const update of started) updates.push(update)
  const plain = started as unknown as Promise<AgentResponse>
  const response = await (isStreamed ? started.finalResponse() : plain)

  const of = `given by ${way}, ${isStreamed ? 'streamed' : 'plain'},`
  const isKnown = response.status === 'completed' || response.status === 'blocked'
  demand(isKnown, `an answer ${of} must complete or block the run, not leave it ${response.status}`)
  demandSame(client.requests.length, response.status === 'blocked' ? 1 : 2, `model calls ${of}`)
  const places = {
    requests: client.requests.slice(1),
    messages: response.messages,
    updates,
    session: session.messages,
  }
  for (const [place, content] of Object.entries(places)) {
    demand(!searchIn(content)(forbidden), `forbidden text ${of} is in \`${place}\``)
  }
}
