// The model works with placeholders. Tools and the caller get the values; providers, caches of model calls,
// and middleware around the tool do not.
import assert from 'node:assert/strict'
import { Agent, chatMiddleware, createSession, jsonSchema, tool } from '@lamella/core'
import { pii } from '@lamella/guardrail-pii'
import { callFunction, scriptedClient } from '@lamella/testing'

const mails: unknown[] = []
const sendMail = tool({
  name: 'send_mail',
  description: 'Sends a mail.',
  parameters: jsonSchema({ type: 'object', properties: { to: { type: 'string' } } }),
  execute: (mail) => {
    mails.push(mail)
    return { sent: true, copy: 'archive@example.com' }
  },
})

// The view of an inner cache, log or trace.
const inside: string[] = []
const log = chatMiddleware('log', async (context, callNext) => {
  inside.push(JSON.stringify(context.messages), JSON.stringify(await callNext()))
})

const client = scriptedClient(
  [
    callFunction('send_mail', { to: '<EMAIL_1>', text: 'Hello <EMAIL_1>' }),
    'I wrote to <EMAIL_1>, with a copy to <EMAIL_2>.',
    'Yes, <EMAIL_1>.',
  ],
  { chunk: 1 },
)
const agent = new Agent({ client, tools: [sendMail], middleware: [pii({ vault: true }), log] })
const session = createSession()

const stream = agent.run('Write to ann@example.com.', { session, stream: true })
let shown = ''
for await (const piece of stream.text()) shown += piece
console.log(shown)
assert.equal(shown, 'I wrote to ann@example.com, with a copy to archive@example.com.')
assert.deepEqual(mails, [{ to: 'ann@example.com', text: 'Hello ann@example.com' }])

// The next run of the session uses the same placeholders.
const next = await agent.run('To whom did you write? Ann@Example.com?', { session })
console.log(next.text)
assert.equal(next.text, 'Yes, ann@example.com.')

console.log(client.requests.at(-1)?.messages.map(({ contents }) => JSON.stringify(contents)))
assert.doesNotMatch(JSON.stringify([client.requests, inside]), /ann@|archive@/i)
