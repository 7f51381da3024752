import { describe, expect, it } from 'vitest'
import { bestPassage } from './best-passage.ts'

const streaming = `# Streaming

A run can be plain or streamed. Middlewares, tools and guardrails are written once for both.

\`\`\`ts
const stream = agent.run('How is Rome?', { stream: true })
for await (const piece of stream.text()) process.stdout.write(piece) // streaming
\`\`\`

\`agent.run(input, { stream: true })\` returns a [stream](api.md#stream) at once. Nothing happens before
the first pull.

## Buffers

| part | what the caller saw |
|---|---|
| text | streamed |
| \`idleTimeoutMs\` | how long a buffer waits for more, in milliseconds |

- streamed text
- A buffer holds text back until a check has seen it.

~~~
streaming = buffer
`

const middleware = `# Writing a middleware

<p>middleware</p>
![middleware](middleware.svg)

A middleware is a middleware around a run, a model call, or a tool call. This page goes from the smallest
one to one with tests.

\`\`\`ts
import { chatMiddleware } from 'middleware'
\`\`\`

## Testing a middleware

To test a middleware, run it alone:

\`\`\`ts
await runChatMiddleware(middleware)
\`\`\`

It never rejects: what a middleware threw is in the result.`

describe('the passage that is quoted', () => {
  it.each([
    [
      'How does streaming work?',
      streaming,
      'A run can be plain or streamed. Middlewares, tools and guardrails are written once for both.',
    ],
    [
      'What is a middleware?',
      middleware,
      'A middleware is a middleware around a run, a model call, or a tool call. This page goes from the ' +
        'smallest one to one with tests.',
    ],
    [
      'How do I test a middleware?',
      middleware,
      'It never rejects: what a middleware threw is in the result.',
    ],
    ['What is a buffer?', streaming, 'A buffer holds text back until a check has seen it.'],
    [
      'What does it return?',
      streaming,
      '`agent.run(input, { stream: true })` returns a stream at once. Nothing happens before the first pull.',
    ],
  ])('answers %j with a sentence, neither code nor fragments', (question, document, text) => {
    expect(bestPassage(document, question).text).toBe(text)
  })

  it('is no code in a list', () => {
    const document = `# Setup

- Install it:

    \`\`\`sh
    install quantum
    \`\`\`

- The quantum package needs a run of its setup.`

    expect(bestPassage(document, 'How do I install quantum?').text).toBe(
      'The quantum package needs a run of its setup.',
    )
  })

  it('is never a line of links within the page', () => {
    const document = `# Chat

- [Sessions](#sessions) · [Session keys](#keys)

A session stores a conversation.`

    expect(bestPassage(document, 'Where are sessions?').text).toBe(
      'A session stores a conversation.',
    )
  })

  it('is the row of a table where only that fits', () => {
    expect(bestPassage(streaming, 'What is idleTimeoutMs?').text).toBe(
      '`idleTimeoutMs`: how long a buffer waits for more, in milliseconds',
    )
  })

  it('is none where only code has the words', () => {
    expect(bestPassage(middleware, 'What does runChatMiddleware await?')).toMatchObject({
      text: expect.not.stringContaining('await runChatMiddleware') as string,
    })
    expect(bestPassage('```\nquantum = 1\n```', 'What is quantum?').score).toBe(0)
  })
})
