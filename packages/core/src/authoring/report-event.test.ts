import { scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import { eventFacts, observeMiddleware } from '../authoring.ts'
import { Agent, agentMiddleware } from '../index.ts'

test('an observer hears of events of its types, whatever their data', async () => {
  const heard: unknown[] = []
  const watch = agentMiddleware('watch', async ({ run }, callNext) => {
    const stop = observeMiddleware(run, 'watch', ['retry'], (type, data) =>
      heard.push([type, data]),
    )
    for (const data of ['text', undefined, null, { attempt: 1 }]) run.emit({ type: 'retry', data })
    run.emit({ type: 'other' })
    stop()
    await callNext()
  })

  await new Agent({ client: scriptedClient(['Hi.']), middleware: watch }).run('Hello')

  expect(heard).toEqual([
    ['retry', 'text'],
    ['retry', undefined],
    ['retry', null],
    ['retry', { attempt: 1 }],
  ])
})

test('the facts of an event have texts of up to 200 characters', () => {
  const facts = eventFacts({ short: 'x'.repeat(200), long: 'x'.repeat(201) })

  expect(facts).toEqual({ short: 'x'.repeat(200) })
})
