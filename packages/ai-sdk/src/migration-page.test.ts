import { readFileSync } from 'node:fs'
import { generateText, streamText, wrapLanguageModel } from 'ai'
import { expect, it } from 'vitest'
import { mockModel } from '../fixtures/ai-lines.ts'

const read = (path: string): string => readFileSync(new URL(path, import.meta.url), 'utf8')
const page = read('../../../docs/migrating/ai-sdk.md')

type Model = Parameters<typeof generateText>[0]['model']
type MakeModel = (wrap: typeof wrapLanguageModel, openai: () => unknown) => Model

/** The model with a middleware of the AI SDK that the page makes. */
async function shownModel(model: unknown): Promise<Model> {
  const [, code = ''] = /```js\n([^]*?)```/.exec(page) ?? []
  const source = `export default (wrapLanguageModel, openai) => {\n${code}\nreturn model }`
  const made = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as {
    readonly default: MakeModel
  }
  return made.default(wrapLanguageModel, () => model)
}

it('names the version that it was tested with', () => {
  const { devDependencies } = JSON.parse(read('../package.json')) as {
    readonly devDependencies: Readonly<Record<string, string>>
  }

  expect(page).toContain(`\`ai\` ${devDependencies['ai']}`)
})

it('shows a middleware that the AI SDK runs, in both modes', async () => {
  const { model, calls } = mockModel('v4', [{ content: [{ type: 'text', text: 'Hello there.' }] }])
  const shown = await shownModel(model)

  const plain = await generateText({ model: shown, prompt: 'Hi' })
  const streamed = await streamText({ model: shown, prompt: 'Hi' }).text

  expect([plain.text, streamed]).toEqual(['Hello there.', 'Hello there.'])
  expect(calls.map(({ temperature }) => temperature)).toEqual([0, 0])
})
