import { Agent } from '@lamella/core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ChosenModel } from './chosen-model.ts'
import { chooseModel } from './chosen-model.ts'
import type { DocsFolder } from './docs-folder.ts'
import { docsTools } from './docs-tools.ts'
import { ownDocs } from './own-docs.ts'
import questions from './questions.json' with { type: 'json' }

let model: ChosenModel
let agent: Agent

beforeAll(async () => {
  const folder = readOnce(await ownDocs())
  model = await chooseModel({}, false)
  agent = new Agent({ client: model.client, tools: docsTools(folder) })
})
afterAll(() => model[Symbol.asyncDispose]())

/** The documents stay as they are while the questions are asked. */
function readOnce(folder: DocsFolder): DocsFolder {
  const list = folder.list()
  const texts = new Map<string, Promise<string>>()
  const read = folder.read.bind(folder)
  return Object.assign(folder, {
    list: () => list,
    read(path: string) {
      const text = texts.get(path) ?? read(path)
      texts.set(path, text)
      return text
    },
  })
}

it.each(Object.entries(questions))('answers "%s" from %s', async (question, page) => {
  const { text } = await agent.run(question)

  expect(text).toMatch(/^According to/)
  expect(text.slice('According to '.length).split(':')[0]).toBe(page)
})
