// An AI SDK application keeps its model and its tools, and gets guardrails, a budget and approvals.
import assert from 'node:assert/strict'
import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { aiSdk, fromAiSdkTools } from '@lamella/ai-sdk'
import { Agent } from '@lamella/core'
import { pii } from '@lamella/guardrail-pii'
import { budget } from '@lamella/middleware-budget'
import { startModelServer } from '@lamella/testing/model-server'
import { tool } from 'ai'
import { z } from 'zod'

// Replaces a provider. Any AI SDK model works: openai('gpt-5'), google('gemini-2.5-flash') …
await using server = await startModelServer()
const provider = createOpenAICompatible({ name: 'local', baseURL: server.baseURL })

// Written as for `generateText`.
const tools = {
  get_weather: tool({
    description: 'Tells the weather of a city.',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => `sunny in ${city}`,
  }),
  delete_note: tool({
    description: 'Deletes a note of the user.',
    inputSchema: z.object({ note: z.string() }),
    needsApproval: true,
    execute: ({ note }) => `deleted ${note}`,
  }),
}

const agent = new Agent({
  client: aiSdk(provider('llama3.2')),
  tools: fromAiSdkTools(tools),
  middleware: [pii(), budget({ limits: { modelCalls: 5 } })],
})

const stream = agent.run('How is the weather in Rome?', { stream: true })
for await (const piece of stream.text()) process.stdout.write(piece)
process.stdout.write('\n')

// No personal data reaches the model.
await agent.run('Who are you? I am eve@example.org.')
assert.doesNotMatch(JSON.stringify(server.requests), /eve@example\.org/)

// A tool that needs approval pauses the run, which resumes with the answer.
const paused = await agent.run('Please delete the note "milk".')
console.log(paused.status, paused.pending[0]?.kind)
assert.equal(paused.status, 'paused')
const answers = Object.fromEntries(paused.pending.map(({ id }) => [id, true]))
const { text } = await agent.resume(paused.checkpoint!, answers)
console.log(text)
assert.match(text, /deleted/)
