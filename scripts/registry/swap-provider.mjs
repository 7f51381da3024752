// An application swaps its provider by one line.
import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const app = (line) => `import { Agent, tool } from '@lamella/core'
${line}

const now = tool({ name: 'now', description: 'Tells the time.', execute: () => 'tea time' })
const agent = new Agent({ client: new Client({ model: 'stand-in' }), tools: [now] })
const { status, text } = await agent.run('Hello!')
console.log(status, text.length > 0)
`

export async function swapProvider(workshop, servers) {
  const lines = [
    "import { OpenAIChatClient as Client } from '@lamella/openai'",
    "import { OpenAIChatCompletionsClient as Client } from '@lamella/openai'",
    "import { AnthropicChatClient as Client } from '@lamella/anthropic'",
  ]
  const folder = workshop.app('swap')
  await workshop.install(folder, '@lamella/core', '@lamella/openai', '@lamella/anthropic')
  for (const line of lines) {
    writeFileSync(join(folder, 'app.ts'), app(line))
    assert.match(await workshop.program(folder, 'app.ts', servers), /^completed true/, line)
  }
  return `${lines.length} clients in the place of one another`
}
