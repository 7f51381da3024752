import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import type { AgentResponse } from '@lamella/core'
import type { Verdict } from './index.ts'
import {
  Agent,
  MiddlewareTermination,
  ToolError,
  functionMiddleware,
  textOf,
  tool,
} from '@lamella/core'
import { guardrail } from './index.ts'

const describeModes = describe.each([
  ['plain', false],
  ['streamed', true],
] as const)

async function run(
  stream: boolean,
  verdict: Verdict,
  thrown: unknown,
): Promise<{ readonly response: AgentResponse; readonly read: string | undefined }> {
  const client = scriptedClient([callFunction('notes', {}), 'Done.'])
  const notes = tool({
    name: 'notes',
    description: 'Reads notes.',
    execute: () => {
      throw thrown
    },
  })
  const judge = guardrail({
    name: 'secrets',
    applyTo: ['result'],
    check: ({ text }) => (text.includes('secret') ? verdict : { action: 'allow' }),
  })
  const agent = new Agent({
    client,
    tools: [notes],
    middleware: judge,
    functionInvocation: { includeDetailedErrors: true },
  })
  const response = stream
    ? await agent.run('Hello', { stream }).finalResponse()
    : await agent.run('Hello')
  const result = client.requests[1]?.messages.at(-1)?.contents[0]
  return {
    response,
    read: result?.type === 'function-result' ? textOf(result.contents) : undefined,
  }
}

describeModes('%s: what a tool throws', (_mode, stream) => {
  it('is judged before the model reads it', async () => {
    const error = new ToolError('there is a secret in it')

    const { response, read } = await run(stream, { action: 'replace', replacement: '***' }, error)

    expect(read).toContain('***')
    expect(JSON.stringify(response)).not.toContain('secret')
  })

  it('is not shown in detail where a guardrail took something out', async () => {
    const error = new Error('there is a secret in it')

    const { response, read } = await run(stream, { action: 'replace', replacement: '***' }, error)

    expect(read).toBe('Error: Function failed.')
    expect(JSON.stringify(response)).not.toContain('secret')
  })

  it('is replaced by the feedback of a retry', async () => {
    const error = new ToolError('there is a secret in it')
    const verdict: Verdict = { action: 'retry', feedback: 'Ask for less.' }

    const { response, read } = await run(stream, verdict, error)

    expect(response.status).toBe('completed')
    expect(read).toContain('Ask for less.')
    expect(JSON.stringify(response)).not.toContain('secret')
  })

  it('is judged by its message', async () => {
    const { read: known } = await run(
      stream,
      { action: 'replace', spans: [{ start: 0, end: 8 }], replacement: 'My' },
      new ToolError('a secret word'),
    )
    const { response } = await run(stream, { action: 'block' }, 'a secret without an error')

    expect(known).toContain('My word')
    expect(response.status).toBe('blocked')
  })

  it('still ends the run where that is its purpose', async () => {
    const end = new MiddlewareTermination('a secret was found', { result: 'Ask me later.' })

    const { response } = await run(stream, { action: 'replace', replacement: '***' }, end)

    expect(response).toMatchObject({ status: 'terminated', reason: 'a secret was found' })
  })

  it('can block the run', async () => {
    const error = new Error('there is a secret in it')

    const { response } = await run(stream, { action: 'block', category: 'secrets' }, error)

    expect(response.status).toBe('blocked')
    expect(JSON.stringify(response)).not.toContain('there is')
  })

  it('stays as it is where a guardrail has nothing against it', async () => {
    const { read } = await run(stream, { action: 'block' }, new ToolError('no such page'))
    const { read: detailed } = await run(stream, { action: 'block' }, new Error('no such page'))

    expect(read).toContain('no such page')
    expect(detailed).toContain('no such page')
  })
})

it('what a middleware throws still fails the run', async () => {
  const broken = new Error('a secret of the middleware')
  const agent = new Agent({
    client: scriptedClient([callFunction('notes', {}), 'Done.']),
    tools: [tool({ name: 'notes', description: 'Reads notes.', execute: () => 'fine' })],
    middleware: [
      guardrail({
        name: 'secrets',
        applyTo: ['result'],
        check: () => ({ action: 'replace', replacement: '' }),
      }),
      functionMiddleware('broken', async () => {
        throw broken
      }),
    ],
  })

  await expect(agent.run('Hello')).rejects.toBe(broken)
})
