import { Agent, functionMiddleware, ProviderError, tool } from '@lamella/core'
import { callFunction, scriptedClient } from '@lamella/testing'
import { expect, it } from 'vitest'
import { pictureOf } from '../views/picture-of.ts'
import { note, recorded, shout } from '../recording.test-helper.ts'
import type { RecorderOptions } from './recorder-options.ts'

const secret = 'Zx9Secret'

/** A run with the secret in everything that somebody may write. */
async function everywhere(options: Partial<RecorderOptions>): Promise<string> {
  const { text } = await recorded(options, async (record) => {
    const look = tool({
      name: 'look',
      description: `Looks. ${secret}`,
      execute: () => ({ [`${secret}key`]: secret }),
    })
    const fail = tool({
      name: 'fail',
      description: '',
      execute: () => Promise.reject(new Error(secret)),
    })
    const change = functionMiddleware('change', async (context, callNext) => {
      context.run.emit({ type: 'custom', data: { note: secret, [secret]: 1 } })
      await callNext()
    })
    const client = scriptedClient([
      [
        callFunction('look', { at: secret, [secret]: 1 }, `id-${secret}`),
        callFunction('fail'),
        callFunction(`made-up-${secret}`),
      ],
      {
        updates: [
          `${secret} `,
          { type: 'reasoning', text: secret },
          { finishReason: secret, metadata: { secret } },
        ],
        error: new ProviderError(secret, {
          kind: 'server',
          provider: 'scripted',
          details: { secret },
        }),
      },
    ])
    const agent = new Agent({
      name: 'helper',
      client,
      instructions: `Know ${secret}`,
      tools: [look, fail],
      functionInvocation: { includeDetailedErrors: true },
      middleware: record.middleware([note(secret), shout(), change]),
    })
    const asked = {
      metadata: { user: secret },
      user: secret,
      stop: [secret],
      providerOptions: { scripted: { headers: { authorization: secret }, apiKey: secret } },
    }
    const input = [
      {
        role: 'user',
        contents: [
          { type: 'text', text: secret },
          { type: 'data', mediaType: 'image/png', data: btoa(secret), name: secret },
          { type: 'uri', uri: `https://x.test/${secret}`, mediaType: secret },
        ],
      },
      { role: 'user', contents: [{ type: secret, odd: secret }] },
    ]
    await agent
      .run(input as never, { stream: true, options: asked, data: secret })
      .finalResponse()
      .catch(() => {})
  })
  return text
}

it('holds nothing of what was said with facts, which is the default', async () => {
  const text = await everywhere({})

  expect(text).toContain('"k":"end"')
  expect(text).not.toContain(secret)
  expect(text.toLowerCase()).not.toContain(secret.toLowerCase())
  expect(text).not.toContain(btoa(secret))
  expect(pictureOf(text)).not.toContain(secret)
})

it('holds everything with full, but for files and credentials', async () => {
  const text = await everywhere({ capture: 'full' })

  expect(text).toContain(`Know ${secret}`)
  expect(text).not.toContain(btoa(secret))
  expect(text).not.toContain(`"apiKey":"${secret}"`)
  expect(text).not.toContain(`"authorization":"${secret}"`)
})

it('holds texts after `redact` only, also those that were written with escapes or in pieces', async () => {
  const text = await everywhere({
    capture: 'redacted',
    redact: (said) => said.replaceAll(new RegExp(secret, 'gi'), '###'),
  })
  const pieces = await recorded(
    { capture: 'redacted', redact: (said) => said.replaceAll(secret, '###') },
    async (record) => {
      const client = scriptedClient([{ updates: ['My Zx9', 'Secret', { finishReason: 'stop' }] }])
      await new Agent({ client, middleware: record.middleware() })
        .run('Hi', { stream: true })
        .finalResponse()
    },
  )

  expect(text).toContain('###')
  expect(text.toLowerCase()).not.toContain(secret.toLowerCase())
  expect(pieces.text).toContain('My ###')
  expect(pieces.text).not.toMatch(/Zx9|Secret/)
})

it('redacts arguments that hide a word behind JSON escapes', async () => {
  const escaped = `{"at":"\\u005ax9Secret"}`

  const { text } = await recorded(
    { capture: 'redacted', redact: (said) => said.replaceAll(secret, '###') },
    (record) =>
      new Agent({
        client: scriptedClient([callFunction('look', escaped), 'Done.']),
        tools: [tool({ name: 'look', description: '', execute: () => '' })],
        middleware: record.middleware(),
      }).run('Hi'),
  )

  expect(text).not.toContain('x9Secret')
})

it('leaves out a text for which `redact` fails', async () => {
  const { text, of } = await recorded(
    {
      capture: 'redacted',
      redact: () => {
        throw new Error('broken')
      },
    },
    (record) =>
      new Agent({ client: scriptedClient([secret]), middleware: record.middleware() }).run(secret),
  )

  expect(text).not.toContain(secret)
  expect(of('end')).toHaveLength(1)
})
