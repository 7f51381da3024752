import { Agent, chatMiddleware, createSession, explain, message, tool } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'
import { expect, it } from 'vitest'
import { describeInBrowser, findings, openPicture } from './browser.test-helper.ts'
import { recorder } from './recorder/recorder.ts'
import { note, shout } from './recording.test-helper.ts'
import { textOf } from './views/text-of.ts'

const look = tool({ name: 'look', description: 'Looks.', execute: () => 'seen' })
const named = (name: string, role: string) => ({
  ...chatMiddleware(name, (_, callNext) => callNext()),
  role,
})

/** Explanation of an agent whose list is recorded, and in an order that earns a warning. */
function explained() {
  const record = recorder({ sink: { write: () => {} } })
  const client = scriptedClient(['Never asked.'], { model: 'm-1' })
  const list = [note(), shout(), named('again', 'retry'), named('known', 'cache')]
  const agent = new Agent({
    name: 'helper',
    client,
    tools: [look],
    middleware: record.middleware(list),
  })
  const session = createSession({ messages: [message('user', 'a'), message('assistant', 'b')] })
  return explain(agent, 'Hi', { session })
}

it('draws the onion of an agent that has not run as text, without the probes', () => {
  expect(textOf(explained())).toBe(`helper: not run yet
A run with 1 message of input and 2 of history goes through these. Nothing was called.
! chat: place known before again, so that a cached result skips again

run         loop
model call  note → shout → again → known → scripted m-1
tool call   look

helper
  Each model call
    │ note
    │ shout
    │ again
    │ known
    │ scripted m-1
  Each tool call
    │ look
`)
})

it('agrees with what explain() prints', () => {
  const chains = /^(?:run|model call|tool call) .*$/gm
  const explanation = explained()

  expect(textOf(explanation).match(chains)).toEqual(String(explanation).match(chains))
})

describeInBrowser('the page of an agent that has not run', () => {
  it('shows its onion, limits and warnings, and no times', async () => {
    const { page, problems } = await openPicture(explained())

    expect(await page.title()).toBe('helper: not run yet')
    expect(await page.locator('.stats').innerText()).toMatch(/Model calls\s+up to 40/)
    expect(await page.locator('.about').innerText()).toBe(
      'chat: place known before again, so that a cached result skips again',
    )
    expect(await page.locator('#tree').innerText()).not.toContain('ms')
    await page.getByText('shout', { exact: true }).last().click()
    expect(await page.locator('#detail-body').innerText()).toContain(
      'shout gets the request from note, and passes it on to again.',
    )
    expect(await page.getByRole('tab').count()).toBe(0)
    expect(problems).toEqual([])
  })

  it.each([
    ['desktop', {}],
    ['phone', { viewport: { width: 360, height: 740 } }],
    ['dark', { colorScheme: 'dark' as const }],
  ])('has no finding of axe and no sideways scrolling: %s', async (_, options) => {
    const { page } = await openPicture(explained(), options)

    const root = 'document.documentElement'
    const sideways = await page.evaluate(`${root}.scrollWidth - ${root}.clientWidth`)
    expect([await findings(page), sideways]).toEqual([[], 0])
  })
})
