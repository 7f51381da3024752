import type { ChatMiddleware, FunctionMiddleware } from '@lamella/core'
import { agentMiddleware, chatMiddleware, withMiddleware } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { metrics, trace } from '@opentelemetry/api'
import { expectTypeOf, it } from 'vitest'
import { traced } from './traced.ts'
import { tracing } from './tracing.ts'

it('a client takes the middlewares of level chat, and no others', () => {
  const client = scriptedClient([])

  expectTypeOf(tracing({ level: 'chat' })).toEqualTypeOf<
    readonly (ChatMiddleware | FunctionMiddleware)[]
  >()
  withMiddleware(client, tracing({ level: 'chat' }))
  // @ts-expect-error a client has no runs
  withMiddleware(client, tracing())
})

it('a list of traced middlewares has the type of the list', () => {
  const client = scriptedClient([])

  withMiddleware(client, traced([chatMiddleware('a', (_, next) => next())]))
  // @ts-expect-error a client has no runs
  withMiddleware(client, traced([agentMiddleware('a', (_, next) => next())]))
})

it('tracers and meters of OpenTelemetry will do', () => {
  tracing({ tracer: trace.getTracer('mine'), meter: metrics.getMeter('mine') })
})
