import type { AgentResponseUpdate, Message, MiddlewareInput } from '@lamella/core'
import { Agent, createSession, tool } from '@lamella/core'
import { scriptedClient } from '../scripted/scripted-client.ts'
import { callFunction } from '../scripted/scripted-step.ts'
import { demand, demandSame, searchIn } from './contract-assertions.ts'
import type { ContractCheck } from './contract-suite.ts'

/** A text that a guardrail must act on. */
interface Violation {
  readonly stage: string
  readonly text: string
  readonly forbidden?: string | undefined
  readonly action: 'block' | 'replace'
}

/** Creates the checks of answers that no model call gave, which users read like those of the model. */
export function givenAnswerChecks(
  create: () => MiddlewareInput,
  violations: readonly Violation[],
): readonly ContractCheck[] {
  return violations.flatMap((violation, index) =>
    (violation.stage === 'output' ? ways : []).map((way) => ({
      name: `output: ${violation.action}s violation ${index + 1} as ${way}`,
      run: async () => {
        await demandJudged(create(), way, false, violation)
        await demandJudged(create(), way, true, violation)
      },
    })),
  )
}

const ways = ['the answer of a tool', 'the response of run.stop()'] as const

async function demandJudged(
  middleware: MiddlewareInput,
  way: (typeof ways)[number],
  isStreamed: boolean,
  { text, forbidden = text, action }: Violation,
): Promise<void> {
  const answering = tool({
    name: 'test_tool',
    description: 'Gives the answer.',
    returnDirect: way === ways[0],
    execute: (_, { run }) => (way === ways[0] ? text : run.stop('enough', { response: text })),
  })
  const client = scriptedClient([callFunction('test_tool', {}), 'Done.'])
  const agent = new Agent({ client, tools: [answering], middleware })
  const session = createSession()
  const updates: AgentResponseUpdate[] = []
  const run = async () => {
    if (!isStreamed) return agent.run('Hello.', { session })
    const stream = agent.run('Hello.', { session, stream: true })
    for await (const update of stream) updates.push(update)
    return stream.finalResponse()
  }
  const { status, messages } = await run()

  const of = `of a run with ${way}, ${isStreamed ? 'streamed' : 'plain'}`
  const passed = way === ways[0] ? 'completed' : 'terminated'
  demandSame(status, action === 'block' ? 'blocked' : passed, `the status ${of}`)
  for (const [place, content] of Object.entries({ messages, updates, session: session.messages })) {
    const said = (content as Message[]).filter(({ role }) => role !== 'tool')
    demand(!searchIn(said)(forbidden), `forbidden text must not be in \`${place}\` ${of}`)
  }
}
