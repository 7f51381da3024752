// Many servers have a Chat Completions API: Ollama, vLLM, llama.cpp, LM Studio, Groq, OpenRouter. Use this
// client for all of them, with another `baseURL` and a dialect: the server's habits, and its provider name.
import assert from 'node:assert/strict'
import { Agent, isProviderError, tool } from '@lamella/core'
import { chatDialects, OpenAIChatCompletionsClient } from '@lamella/openai'
import { startModelServer } from '@lamella/testing/model-server'
import { z } from 'zod'

// This replaces such a server. For Ollama, the address would be http://localhost:11434/v1.
await using server = await startModelServer()

const client = new OpenAIChatCompletionsClient({
  dialect: { ...chatDialects.ollama, provider: 'local' },
  baseURL: server.baseURL,
  model: 'llama3.2',
  // Local servers need no key. A key from the environment is meant for OpenAI and would be sent, too.
  apiKey: 'none',
})
const weather = tool({
  name: 'get_weather',
  description: 'Tells the weather of a city.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `sunny in ${city}`,
})
const agent = new Agent({ client, tools: [weather], options: { maxOutputTokens: 500 } })

const stream = agent.run('How is the weather in Rome?', { stream: true })
for await (const piece of stream.text()) process.stdout.write(piece)
process.stdout.write('\n')
const { messages } = await stream.finalResponse()

const { path, body } = server.requests[0]!
assert.equal(path, '/v1/chat/completions')
assert.equal(messages.at(-1)?.origin?.provider, 'local')
// Only OpenAI's own models need `max_completion_tokens`.
assert.match(JSON.stringify(body), /"max_tokens":500/)

// Errors name the server, and contain everything that a middleware needs to know.
await server.close()
const failed = await client.getResponse('Hello?', { transportRetries: 0 }).catch((error) => error)
console.log(failed.message)
assert.ok(isProviderError(failed) && failed.provider === 'local' && failed.kind === 'network')
