import { Agent, agentMiddleware } from '@lamella/core'
import { expect, test } from 'vitest'
import { runIn, runModes } from './run-in.ts'
import { scriptedClient } from './scripted-client.ts'

test('both modes run the agent to its end, with the input and the options of the run', async () => {
  const seen: unknown[] = []
  const note = agentMiddleware('note', async ({ messages, run, stream }, callNext) => {
    seen.push([stream, messages.map(({ contents }) => contents), run.tenant])
    await callNext()
  })
  const agent = new Agent({ client: scriptedClient(() => 'Hi.'), middleware: [note] })
  const input = 'Good day'
  const contents = [[{ type: 'text', text: input }]]

  const answers = runModes.map((mode) => runIn(mode, agent, { input, tenant: 'acme' }))
  const texts = (await Promise.all(answers)).map(({ text }) => text)

  expect(texts).toEqual(['Hi.', 'Hi.'])
  expect(seen).toEqual([
    [false, contents, 'acme'],
    [true, contents, 'acme'],
  ])
})

test.each(runModes)('a run that fails rejects, %s', async (mode) => {
  const agent = new Agent({ client: scriptedClient([new Error('down')]) })

  await expect(runIn(mode, agent)).rejects.toThrow('down')
})
