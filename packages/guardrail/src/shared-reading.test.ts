import { callFunction, scriptedClient } from '@lamella/testing'
import { afterEach, expect, test, vi } from 'vitest'
import { Agent, functionMiddleware, tool } from '@lamella/core'
import type { FunctionMiddleware } from '@lamella/core'
import { guardrail } from './guardrail.ts'

const page = JSON.stringify({ title: 'Weather', body: 'He said:\n"a secret"' })

const read = tool({ name: 'read', description: 'Reads a page.', execute: () => page })

afterEach(() => vi.restoreAllMocks())

/** Runs a tool with some guardrails. Returns what each of them judged. */
async function judgedBy(names: readonly string[], between: readonly FunctionMiddleware[] = []) {
  const client = scriptedClient([callFunction('read', {}, 'c1'), 'Done.'])
  const judged: Record<string, string[]> = {}
  const guardrails = names.map((name) =>
    guardrail({
      name,
      applyTo: ['result'],
      check: ({ text }) => {
        ;(judged[name] ??= []).push(text)
        return { action: 'allow' }
      },
    }),
  )
  const [outermost = [], ...others] = guardrails
  const middleware = [...outermost, ...between, ...others.flat()]

  await new Agent({ client, tools: [read], middleware }).run('Read it.')

  return judged
}

test('three guardrails on the same result read it once', async () => {
  const parse = vi.spyOn(JSON, 'parse')

  const judged = await judgedBy(['one', 'two', 'three'])

  const seen = ['title: Weather\nbody: He said:\n"a secret"\n']
  expect(judged).toEqual({ one: seen, two: seen, three: seen })
  expect(parse.mock.calls.filter(([json]) => json === page)).toHaveLength(1)
})

test('a guardrail reads again what a middleware wrote into the same contents', async () => {
  const rewrite = functionMiddleware('rewrite', async (_, callNext) => {
    const { contents } = await callNext()
    Object.assign(contents[0]!, { text: '{"body":"another\\nsecret"}' })
  })

  const judged = await judgedBy(['outer', 'inner'], [rewrite])

  expect(judged['inner']).toEqual(['title: Weather\nbody: He said:\n"a secret"\n'])
  expect(judged['outer']).toEqual(['body: another\nsecret\n'])
})
