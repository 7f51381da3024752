// Runs the code of peers that the migration pages show, against the versions that the pages name.
// usage: node scripts/dev.mjs peers
import { strict as assert } from 'node:assert'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'
import { lamellaMiddleware } from '../packages/ai-sdk/src/index.ts'
import { pii } from '../packages/guardrail-pii/src/index.ts'
import { retry } from '../packages/middleware-retry/src/index.ts'

const manifest = JSON.parse(read('peers/package.json')) as {
  readonly dependencies: Readonly<Record<string, string>>
}
const peers = createRequire(new URL('peers/package.json', import.meta.url))

await langchain()
await openaiAgents()
await mastra()

/** LangChain: the middleware of the page calls another model when the first one fails. */
async function langchain(): Promise<void> {
  const page = pageAbout('langchain')
  const { createAgent, createMiddleware } = await load('langchain')
  const { FakeListChatModel, FakeStreamingChatModel } = await load('@langchain/core/utils/testing')
  const { z } = await load('zod')
  const down = new FakeStreamingChatModel({ thrownErrorString: 'down' })
  const other = new FakeListChatModel({ responses: ['From the other one.'] })

  const retryOnce = await shown(page, 'retryOnce', { createMiddleware, z, other })
  const agent = createAgent({ model: down, tools: [], middleware: [retryOnce] })
  const { messages } = await agent.invoke({ messages: [{ role: 'user', content: 'Hello' }] })

  assert.equal(messages.at(-1).text, 'From the other one.')
  const exported = Object.keys(await load('langchain')).filter((name) =>
    /[a-z]Middleware$/.test(name),
  )
  const named = new Set(Array.from(page.matchAll(/`(\w+Middleware)`/g), ([, name]) => name))
  const ours = exported.filter((name) => name !== 'createMiddleware')
  assert.deepEqual(
    ours.filter((name) => !named.has(name)),
    [],
    'the page lacks middleware of LangChain',
  )
  console.log(`langchain: its middleware runs, ${ours.length} exported ones are on the page`)
}

/** OpenAI Agents: the guardrail of the page refuses an input, and no model is called. */
async function openaiAgents(): Promise<void> {
  const page = pageAbout('@openai/agents', 'openai-agents')
  const sdk = await load('@openai/agents')
  sdk.setTracingDisabled(true)
  const lines: string[] = []
  const model = { getResponse: () => assert.fail('the model was called'), getStreamedResponse() {} }
  class Agent extends sdk.Agent {
    constructor(settings: object) {
      super({ ...settings, model })
    }
  }
  await shown(page, 'agent', {
    Agent,
    run: sdk.run,
    InputGuardrailTripwireTriggered: sdk.InputGuardrailTripwireTriggered,
    console: { log: (line: string) => lines.push(line) },
  })

  assert.deepEqual(lines, ['refused'])
  await guardedModel(page, sdk)
  console.log(
    '@openai/agents: its guardrail refuses the input, and a guarded model keeps addresses',
  )
}

/** The agent of the page that keeps the SDK streams no address, neither to its model nor to its reader. */
async function guardedModel(
  page: string,
  { Agent, run }: Readonly<Record<'Agent' | 'run', any>>, // oxlint-disable-line typescript/no-explicit-any -- see `load`
): Promise<void> {
  const prompts: string[] = []
  const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
  const parts = [
    { type: 'text-start', id: '0' },
    ...['Write to ada@exa', 'mple.com.'].map((delta) => ({ type: 'text-delta', id: '0', delta })),
    { type: 'text-end', id: '0' },
    { type: 'finish', finishReason: { unified: 'stop' }, usage },
  ]
  const model = {
    specificationVersion: 'v3',
    provider: 'none',
    modelId: 'none',
    supportedUrls: {},
    doGenerate: () => assert.fail('the plain model was called'),
    async doStream({ prompt }: { readonly prompt: unknown }) {
      prompts.push(JSON.stringify(prompt))
      return { stream: ReadableStream.from(parts) }
    },
  }

  const agent = await shown(
    page,
    'agent',
    {
      Agent,
      openai: () => model,
      aisdk: (await load('@openai/agents-extensions/ai-sdk')).aisdk,
      wrapLanguageModel: (await load('ai')).wrapLanguageModel,
      lamellaMiddleware,
      pii,
      retry,
    },
    1,
  )
  const result = await run(agent, 'I am eve@example.org. How do I reach Ada?', { stream: true })
  let answer = ''
  for await (const piece of result.toTextStream()) answer += piece

  assert.equal(answer, 'Write to [EMAIL].')
  assert.match(prompts.join(), /I am \[EMAIL\]/)
}

/** Mastra: the processor of the page refuses an input, and no model is called. Named processors exist. */
async function mastra(): Promise<void> {
  const page = pageAbout('@mastra/core', 'mastra')
  const { Agent } = await load('@mastra/core/agent')
  const exported = await load('@mastra/core/processors')
  const refuse = () => assert.fail('the model was called')
  const model = {
    specificationVersion: 'v2',
    provider: 'none',
    modelId: 'none',
    supportedUrls: {},
    doGenerate: refuse,
    doStream: refuse,
  }
  const lines: string[] = []

  await shown(page, 'agent', { Agent, model, console: { log: (line: string) => lines.push(line) } })

  assert.deepEqual(lines, ['no homework'])
  const [, builtIn = ''] = page.split('## Built-in processors')
  const [table = ''] = builtIn.split('\n## ')
  const rows = table.matchAll(/^\| (`[^|]*) \|/gm)
  const named = [...rows].flatMap(([, cell = '']) => cell.match(/(?<=`)[A-Z]\w+(?=`)/g) ?? [])
  assert.deepEqual(
    named.filter((name) => !(name in exported)),
    [],
    'the page names processors that Mastra does not export',
  )
  console.log(`@mastra/core: its processor refuses the input, ${named.length} named ones exist`)
}

/** A migration page, which must name the tested version. */
function pageAbout(peer: string, file = peer): string {
  const page = read(`../docs/migrating/${file}.md`)
  const version = `\`${peer}\` ${manifest.dependencies[peer]}`
  assert.ok(
    page.includes(version),
    `docs/migrating/${file}.md must say that it was tested with ${version}`,
  )
  return page
}

/** Runs a JavaScript block of a page with `names` in place of its imports, and returns its constant `result`. */
async function shown(
  page: string,
  result: string,
  names: Readonly<Record<string, unknown>>,
  at = 0,
): Promise<unknown> {
  const code = Array.from(page.matchAll(/```js\n([^]*?)```/g), ([, block]) => block)[at]
  assert.ok(code, 'the page has no such block of JavaScript')
  const source = `export default async ({ ${Object.keys(names).join(', ')} }) => {\n${code.replaceAll(/^import .*$/gm, '')}\nreturn ${result} }`
  const made = (await import(`data:text/javascript,${encodeURIComponent(source)}`)) as {
    readonly default: (names: object) => Promise<unknown>
  }
  return made.default(names)
}

// oxlint-disable-next-line typescript/no-explicit-any -- peers are installed apart, so their types are not known here
async function load(name: string): Promise<any> {
  return import(pathToFileURL(peers.resolve(name)).href)
}

function read(path: string): string {
  return readFileSync(new URL(path, import.meta.url), 'utf8')
}
