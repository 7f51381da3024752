import { Agent } from '@lamella/core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ChosenModel } from './chosen-model.ts'
import { chooseModel } from './chosen-model.ts'
import { docsTools } from './docs-tools.ts'
import { ownDocs } from './own-docs.ts'
import questions from './questions.json' with { type: 'json' }

let model: ChosenModel
let agent: Agent

beforeAll(async () => {
  const folder = await ownDocs()
  model = await chooseModel({}, false)
  agent = new Agent({ client: model.client, tools: docsTools(folder) })
})
afterAll(() => model[Symbol.asyncDispose]())

it.each(Object.entries(questions))('answers "%s" from %s', async (question, page) => {
  const { text } = await agent.run(question)

  expect(text).toMatch(/^According to/)
  expect(text.slice('According to '.length).split(':')[0]).toBe(page)
})
