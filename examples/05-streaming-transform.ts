// To change updates, a middleware registers a transform before callNext(). One middleware serves both modes:
// streamed or plain, the caller reads the same text, and so does the final response.
import assert from 'node:assert/strict'
import { Agent, chatMiddleware } from '@lamella/core'
import { scriptedClient } from '@lamella/testing'

const hideDigits = chatMiddleware('hide-digits', async (context, callNext) => {
  context.transformUpdates({
    transform(update, controller) {
      const contents = update.contents.map((content) =>
        content.type === 'text'
          ? { ...content, text: content.text.replaceAll(/\d/g, '•') }
          : content,
      )
      controller.enqueue({ ...update, contents })
    },
  })
  const response = await callNext()
  // In both modes the inner work is complete here, with the transforms applied.
  console.log(`[the middleware sees: ${response.text}]`)
})

const answer = 'Call 555-0199 before 18:00.'
const client = scriptedClient([answer, answer], { chunk: 4 })
const agent = new Agent({ client, middleware: [hideDigits] })

const stream = agent.run('What is the number?', { stream: true })
const pieces: string[] = []
for await (const piece of stream.text()) pieces.push(piece)
console.log('streamed:', pieces.join('|'))
const streamed = await stream.finalResponse()

const plain = await agent.run('What is the number?')
console.log('plain:   ', plain.text)

assert.ok(pieces.length > 3)
assert.equal(pieces.join(''), 'Call •••-•••• before ••:••.')
assert.equal(streamed.text, pieces.join(''))
assert.equal(plain.text, streamed.text)
