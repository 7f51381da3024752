import { Agent } from '@lamella/core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ChosenModel } from './chosen-model.ts'
import { chooseModel } from './chosen-model.ts'
import { docsTools } from './docs-tools.ts'
import { ownDocs } from './own-docs.ts'

/** What newcomers ask, and the page that the answer must be from. */
const questions: readonly (readonly [question: string, page: string])[] = [
  ['What is a short circuit?', 'docs/glossary.md'],
  ['What is a layer?', 'docs/glossary.md'],
  ['What is a middleware?', 'docs/glossary.md'],
  ['What is a guardrail?', 'docs/glossary.md'],
  ['What is a checkpoint?', 'docs/glossary.md'],
  ['What is an iteration?', 'docs/glossary.md'],
  ['What is a termination?', 'docs/glossary.md'],
  ['What is a session?', 'docs/glossary.md'],
  ['What is a tenant?', 'docs/glossary.md'],
  ['How do I stop prompt injection?', 'docs/prompt-injection.md'],
  ['How do I install Lamella?', 'docs/installing.md'],
  ['How do I cache model calls?', 'docs/caching.md'],
  ['How do I protect personal data?', 'docs/personal-data.md'],
  ['How do I write a guardrail?', 'docs/writing-a-guardrail.md'],
  ['How do I write a provider?', 'docs/writing-a-provider.md'],
  ['How do I write a store?', 'docs/writing-a-store.md'],
  ['How do I write a middleware?', 'docs/writing-a-middleware.md'],
  ['How do I publish a middleware?', 'docs/publishing-a-middleware.md'],
  ['How do I test an agent without a key?', 'docs/faq.md'],
  ['How do I get structured output?', 'docs/structured-output.md'],
  ['How do I approve tools?', 'docs/approving-tools.md'],
  ['How do I run agents on a queue?', 'docs/queues.md'],
  ['How does streaming work?', 'docs/streaming.md'],
  ['How do I choose a client?', 'docs/choosing-a-client.md'],
  ['How do I keep histories short?', 'docs/short-histories.md'],
  ['How do I trace and audit runs?', 'docs/tracing-and-audit.md'],
  ['Which order should middlewares have?', 'docs/order.md'],
  ['How can a run end?', 'docs/outcomes.md'],
  ['What does the error session_invalid mean?', 'docs/errors.md'],
  ['How do I migrate from LangChain?', 'docs/migrating/langchain.md'],
  ['How do I migrate from the AI SDK?', 'docs/migrating/ai-sdk.md'],
  ['How do retries and fallback work together?', 'docs/retries-and-fallback.md'],
  ['How do lifecycle hooks work?', 'docs/lifecycle.md'],
  ['What does versioning promise?', 'docs/versioning.md'],
  ['Does it send anything anywhere?', 'docs/faq.md'],
  ['Can a user approve a tool call by typing?', 'docs/faq.md'],
  ['What does the threat model say?', 'docs/threat-model.md'],
]

let model: ChosenModel
let agent: Agent

beforeAll(async () => {
  const folder = await ownDocs()
  model = await chooseModel({}, false)
  agent = new Agent({ client: model.client, tools: docsTools(folder) })
})
afterAll(() => model[Symbol.asyncDispose]())

it.each(questions)('answers "%s" from %s', async (question, page) => {
  const { text } = await agent.run(question)

  expect(text).toMatch(/^According to/)
  expect(text.slice('According to '.length).split(':')[0]).toBe(page)
})
