import type { AgentResponse, MessageInput } from '@lamella/core'
import { Agent, functionMiddleware, GuardrailTripped, tool } from '@lamella/core'
import { callFunction, runIn, runModes, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { FileEvent } from './index.ts'
import { fileValidator } from './index.ts'

const zip = { type: 'data', mediaType: 'application/zip', data: 'UEs=' } as const
const note = { type: 'data', mediaType: 'text/plain', data: 'YWJj' } as const

describe.each(runModes)('files that are left out, %s', (mode) => {
  const run = (agent: Agent, input: MessageInput): Promise<AgentResponse> =>
    runIn(mode, agent, { input })

  it('are not in the value of a result either', async () => {
    const look = tool({ name: 'look', description: '', execute: () => [zip] })
    const values: unknown[] = []
    const watch = functionMiddleware('watch', async (_, callNext) => {
      values.push((await callNext()).value)
    })
    const client = scriptedClient([callFunction('look'), 'Seen.'])
    const files = fileValidator({ contents: { onViolation: 'drop' } })

    await run(new Agent({ client, tools: [look], middleware: [watch, files] }), 'Go')

    expect(values).toEqual([undefined])
  })

  it('do not end a run that `scan` has ended itself', async () => {
    const scan = (): never => {
      throw new GuardrailTripped({
        guardrail: 'antivirus',
        level: 'agent',
        stage: 'input',
        category: 'worm',
        message: 'A worm.',
      })
    }
    const events: FileEvent[] = []
    const middleware = fileValidator({
      contents: { scan },
      onEvent: (event) => void events.push(event),
    })

    const { block } = await run(new Agent({ client: scriptedClient([]), middleware }), [note])

    expect(block).toMatchObject({ guardrail: 'antivirus', category: 'worm' })
    expect(events).toEqual([])
  })
})
