import { scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { defineChatMiddleware, defineFunctionMiddleware } from '../authoring.ts'
import { Agent, explain } from '../index.ts'
import { guardrail } from '@lamella/guardrail'

const chat = (role: string, name?: string) =>
  defineChatMiddleware(role, { name }, (_, callNext) => callNext())
const explained = (...middleware: Parameters<typeof chat>[]) =>
  explain(
    new Agent({
      client: scriptedClient([]),
      middleware: middleware.map((given) => chat(...given)),
    }),
    'Hello',
  )

describe('explain, about the order of middlewares', () => {
  it('has nothing to say about the recommended order', () => {
    expect(explained(['tracing'], ['cache'], ['fallback'], ['retry']).warnings).toEqual([])
  })

  it('knows the place of what stands around calls of each level', () => {
    const next = <Result>(_: unknown, callNext: () => Promise<Result>) => callNext()
    const middleware = ['timeout', 'audit'].map((role) => defineChatMiddleware(role, {}, next))
    const ofTools = ['timeout', 'rate-limit', 'cache'].map((role) =>
      defineFunctionMiddleware(role, {}, next),
    )
    const agent = new Agent({ client: scriptedClient([]), middleware: [middleware, ofTools] })

    expect(explain(agent, 'Hello').warnings).toEqual([
      'chat: place audit before timeout, to record every call that timeout makes',
      'function: place rate-limit before timeout, so that timeout sees nothing that it blocks',
      'function: place cache before timeout, so that a cached result skips timeout',
    ])
  })

  it('names the middleware that should stand further out, and the one it should stand outside', () => {
    const explanation = explained(['retry'], ['mine'], ['cache', 'answers'])

    expect(explanation.warnings).toEqual([
      'chat: place answers before retry, so that a cached result skips retry',
    ])
    expect(String(explanation)).toContain('place answers before retry')
  })

  it('says that two ready-made middlewares of a level share a name', () => {
    expect(explained(['retry'], ['retry']).warnings).toEqual([
      'chat: more than one middleware is named retry; remove one, or give each a `name`',
    ])
  })

  it('knows guardrails by the role they are given, at each level', () => {
    const pii = guardrail({
      name: 'pii',
      role: 'pii',
      applyTo: ['output', 'arguments'],
      check: () => ({ action: 'allow' }),
    })
    const agent = new Agent({
      client: scriptedClient([]),
      middleware: [chat('cache'), defineFunctionMiddleware('cache', {}, (_, next) => next()), pii],
    })

    expect(explain(agent, 'Hello').warnings).toEqual([
      'chat: place pii before cache, so that cache sees no personal data',
      'function: place pii before cache, so that cache sees no personal data',
    ])
  })
  it('names the entry of the list that a part belongs to, once', () => {
    const named = (name: string) => chat('pii', name)
    const feature = [named('pii-output'), named('pii'), [named('pii-arguments')]]
    const agent = new Agent({ client: scriptedClient([]), middleware: [chat('cache'), feature] })

    expect(explain(agent, 'Hello').warnings).toEqual([
      'chat: place pii before cache, so that cache sees no personal data',
    ])
  })
})
