import { callFunction, scriptedClient } from '@lamella/testing'
import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Middleware, MiddlewareInput } from '../index.ts'
import {
  Agent,
  agentMiddleware,
  chatMiddleware,
  functionMiddleware,
  jsonSchema,
  tool,
} from '../index.ts'
import { runs } from '../../../../tests/support/runs.ts'

type Level = Middleware['level']
type Scope = 'client' | 'agent' | 'run'

interface Entry {
  readonly level: Level
  readonly scope: Scope
}

const entries = fc.array(
  fc
    .record<Entry>({
      level: fc.constantFrom('agent', 'chat', 'function'),
      scope: fc.constantFrom('client', 'agent', 'run'),
    })
    .filter(({ level, scope }) => level !== 'agent' || scope !== 'client'),
  { maxLength: 12 },
)

/** Indexes at which a list is cut into nested ones. */
const nesting = fc.array(fc.nat({ max: 3 }), { maxLength: 6 })

function nested(list: readonly Middleware[], depths: readonly number[]): MiddlewareInput {
  const [depth, ...rest] = depths
  if (depth === undefined || list.length === 0) return list
  const inner = nested(list.slice(depth), rest)
  return [...list.slice(0, depth), inner]
}

it('middlewares of any list nest in its order, by level and scope, in both modes', async () => {
  await fc.assert(
    fc.asyncProperty(entries, nesting, fc.boolean(), async (given, depths, stream) => {
      const log: string[] = []
      const named = given.map((entry, at) => ({ ...entry, name: `${entry.level}${at}` }))
      const inScope = (scope: Scope): MiddlewareInput =>
        nested(
          named
            .filter((entry) => entry.scope === scope)
            .map(({ level, name }) => make(level, name, log)),
          depths,
        )
      const client = scriptedClient([callFunction('look'), 'Done.'], {
        middleware: inScope('client') as never,
      })
      const look = tool({
        name: 'look',
        description: 'Looks.',
        parameters: jsonSchema({ type: 'object' }),
        execute: () => void log.push('tool'),
      })
      const agent = new Agent({ client, tools: [look], middleware: inScope('agent') })

      const options = { middleware: inScope('run') }
      if (stream) await agent.run('Hello', { ...options, stream }).finalResponse()
      else await agent.run('Hello', options)

      const of = (level: Level): string[] =>
        (['client', 'agent', 'run'] as const).flatMap((scope) =>
          named
            .filter((entry) => entry.level === level && entry.scope === scope)
            .map(({ name }) => name),
        )
      const chat = onion(of('chat'), [])
      expect(log).toEqual(
        onion(of('agent'), [...chat, ...onion(of('function'), ['tool']), ...chat]),
      )
    }),
    { numRuns: runs(200) },
  )
})

function onion(names: readonly string[], inside: readonly string[]): string[] {
  return names.reduceRight<string[]>(
    (all, name) => [`${name} in`, ...all, `${name} out`],
    [...inside],
  )
}

function make(level: Level, name: string, log: string[]): Middleware {
  const process = async (_: unknown, callNext: () => Promise<unknown>): Promise<void> => {
    log.push(`${name} in`)
    await callNext()
    log.push(`${name} out`)
  }
  if (level === 'agent') return agentMiddleware(name, process)
  return level === 'chat' ? chatMiddleware(name, process) : functionMiddleware(name, process)
}
