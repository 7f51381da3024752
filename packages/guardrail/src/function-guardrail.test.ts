import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { AgentResponse, Content, FunctionResult, Tool } from '@lamella/core'
import { Agent, functionMiddleware, text, tool } from '@lamella/core'
import type { GuardrailOptions } from './guardrail-options.ts'
import { words } from './guardrail.test-helper.ts'
import { guardrail } from './guardrail.ts'
import type { GuardrailSubject } from './verdict.ts'

const notes = tool({
  name: 'notes',
  description: 'Reads notes.',
  parameters: z.object({ about: z.string() }),
  execute: ({ about }) => `notes about ${about}: a secret`,
})

interface Ran {
  readonly response: AgentResponse
  /** Texts that the model read. */
  readonly result: Content | undefined
}

async function run(options: Omit<GuardrailOptions, 'name'>, used: Tool = notes): Promise<Ran> {
  const client = scriptedClient([callFunction('notes', { about: 'my secret' }, 'c1'), 'Done.'])
  const agent = new Agent({
    client,
    tools: [used],
    middleware: guardrail({ name: 'g', ...options }),
  })
  const response = await agent.run('Hello')
  const last = client.requests[1]?.messages.findLast(({ role }) => role === 'tool')
  return { response, result: last?.contents[0] }
}

function toolThat(execute: () => unknown): Tool {
  return tool({ name: 'notes', description: 'x', execute })
}

describe('a guardrail around a tool call', () => {
  test('is told which call it judges', async () => {
    const subjects: GuardrailSubject[] = []

    await run({
      applyTo: ['arguments', 'result'],
      check: (subject) => {
        subjects.push(subject)
        return { action: 'allow' }
      },
    })

    expect(subjects).toMatchObject([
      {
        stage: 'arguments',
        toolName: 'notes',
        callId: 'c1',
        text: 'about: my secret\n',
        final: true,
      },
      {
        stage: 'result',
        toolName: 'notes',
        callId: 'c1',
        text: 'notes about my secret: a secret',
        role: 'tool',
      },
    ])
  })

  test('blocked arguments never reach the tool', async () => {
    let ran = false

    const { response } = await run(
      { applyTo: ['arguments'], check: words('block') },
      toolThat(() => (ran = true)),
    )

    expect(ran).toBe(false)
    expect(response.block).toMatchObject({ level: 'function', stage: 'arguments' })
  })

  test('replaced arguments are what the tool gets, replaced results what the model reads', async () => {
    const { result } = await run({ applyTo: ['arguments', 'result'], check: words('replace') })

    expect(result).toMatchObject({ contents: [text('notes about my ***: a ***')] })
  })

  test('a replacement with quotes does not break arguments', async () => {
    const { result } = await run({
      applyTo: ['arguments'],
      check: words('replace', { replacement: '"}' }),
    })

    expect(result).toMatchObject({ contents: [text('notes about my "}: a secret')] })
  })

  test('arguments that are no JSON any more are blocked', async () => {
    const { response } = await run({
      applyTo: ['arguments'],
      check: () => ({ action: 'replace', replacement: '{' }),
    })

    expect(response.block?.category).toBe('broken_arguments')
  })

  test('arguments that cannot be written down are not let through unread', async () => {
    const counting = tool({
      name: 'notes',
      description: 'x',
      parameters: z.object({ about: z.string().transform(() => 1n) }),
      jsonSchema: { type: 'object' },
      execute: () => 'ran',
    })

    const { response } = await run({ applyTo: ['arguments'], check: words('block') }, counting)

    expect(response.block?.category).toBe('guardrail_error')
  })

  test.each(['arguments', 'result'] as const)(
    'a retry of %s tells the model why, and the run continues',
    async (stage) => {
      let runs = 0
      const counting: Tool = {
        ...notes,
        execute: () => {
          runs++
          return 'notes about me: a secret'
        },
      }

      const { response, result } = await run(
        { applyTo: [stage], check: words('retry', { feedback: 'Ask for less.' }) },
        counting,
      )

      expect(response.text).toBe('Done.')
      expect(runs).toBe(stage === 'arguments' ? 0 : 1)
      expect(result).toMatchObject({ error: { code: 'denied' } })
      expect(JSON.stringify(result)).toContain('Ask for less.')
      expect(JSON.stringify(result)).not.toContain('secret:')
    },
  )

  test('a retry without feedback tells the model the message of the verdict', async () => {
    const { result } = await run({
      applyTo: ['result'],
      check: words('retry', { message: 'That is private.' }),
    })

    expect(JSON.stringify(result)).toContain('That is private.')
  })

  test('arguments with nothing against them reach the tool as they are', async () => {
    const given: unknown[] = []
    const parsing = tool({
      name: 'notes',
      description: 'x',
      parameters: z.object({ about: z.string().transform((about) => about.length) }),
      jsonSchema: { type: 'object' },
      execute: ({ about }) => void given.push(about),
    })

    await run({ applyTo: ['arguments'], check: words('block') }, parsing)

    expect(given).toEqual([9])
  })

  test('a result with nothing against it keeps its error', async () => {
    const result = {
      contents: [text('No page.')],
      error: { code: 'tool_failed', message: 'status 404' },
    }

    const { result: read } = await run(
      { applyTo: ['result'], check: words('block') },
      toolThat(() => result),
    )

    expect(read).toMatchObject(result)
  })

  test('what a tool threw does not say what was taken out of its result', async () => {
    const failing = toolThat(() => ({
      contents: [text('the secret')],
      error: { code: 'tool_failed', message: 'no secret' },
    }))

    const { result } = await run({ applyTo: ['result'], check: words('replace') }, failing)

    expect(result).toMatchObject({ contents: [text('the ***')], error: { message: 'the ***' } })
  })

  test('what a tool returned is gone for middlewares further out too', async () => {
    let seen: FunctionResult | undefined
    const outer = functionMiddleware('outer', async (_, callNext) => {
      seen = await callNext()
    })
    const judge = guardrail({ name: 'g', applyTo: ['result'], check: words('replace') })
    const client = scriptedClient([callFunction('notes', { about: 'x' }), 'Done.'])

    await new Agent({ client, tools: [notes], middleware: [outer, judge] }).run('Hello')

    expect(seen).toEqual({ contents: [text('notes about x: a ***')] })
  })

  test('files in results are checked where files are named', async () => {
    const image: Content = { type: 'data', mediaType: 'image/png', data: 'AAAA' }
    const camera = toolThat(() => [text('see'), image])
    const replace: GuardrailOptions['check'] = () => ({ action: 'replace', replacement: '[image]' })

    const blocked = await run({ applyTo: ['file'], check: () => ({ action: 'block' }) }, camera)
    const replaced = await run({ applyTo: ['file'], check: replace }, camera)

    expect(blocked.response.block).toMatchObject({ level: 'function', stage: 'result' })
    expect(replaced.result).toMatchObject({ contents: [text('see'), text('[image]')] })
  })

  test('in shadow changes nothing, whatever the verdict', async () => {
    for (const action of ['block', 'replace', 'retry'] as const) {
      const { result } = await run({
        applyTo: ['arguments', 'result'],
        mode: 'shadow',
        check: words(action),
      })

      expect(result).toMatchObject({ contents: [text('notes about my secret: a secret')] })
    }
  })

  test('leaves calls alone that `when` does not want', async () => {
    const { response } = await run({
      applyTo: ['arguments', 'result'],
      check: words('block'),
      when: () => false,
    })

    expect(response.text).toBe('Done.')
  })
})
