// The agents of `stack-runs.mjs`: one with the recommended middleware of examples/48-recommended-order.ts without the
// judge, and a bare one, with a model that answers at once.
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const require = createRequire(join(import.meta.dirname, '..', '..', 'examples', 'package.json'))
const load = (name) => import(pathToFileURL(require.resolve(name)).href)
const { Agent, BaseChatClient, chatResponse } = await load('@lamella/core')

export const answer =
  'It is sunny in Rome today, about twenty four degrees, with a light wind from the west. '.repeat(
    3,
  )
const words = answer.match(/\S+\s*/g)
/** A streamed answer is so many times as long, so that its words are what costs. */
const repeats = 20
export const wordsOfAStream = words.length * repeats

class Client extends BaseChatClient {
  provider = 'fake'

  async respond() {
    const usage = { inputTokens: 10, outputTokens: 60 }
    return chatResponse({ messages: answer, usage, finishReason: 'stop', model: 'fake' })
  }

  async *stream() {
    for (let turn = 0; turn < repeats; turn++) {
      for (const text of words) {
        yield { contents: [{ type: 'text', text }], role: 'assistant', messageId: 'm' }
      }
    }
  }
}

const client = new Client({ model: 'fake' })
export const bareAgent = () => new Agent({ client })
export const stackAgent = async () => new Agent({ client, middleware: await stack() })

async function stack() {
  const packages = ['guardrail-content', 'guardrail-injection', 'guardrail-pii', 'guardrail-tokens']
  packages.push('guardrail-tools', 'middleware-audit', 'middleware-budget', 'middleware-cache')
  packages.push('middleware-fallback', 'middleware-files', 'middleware-rate-limit')
  packages.push('middleware-retry', 'middleware-schema', 'middleware-truncate', 'otel')
  const of = Object.assign({}, ...(await Promise.all(packages.map((n) => load(`@lamella/${n}`)))))
  const limits = [{ unit: 'requests', limit: 1e9, windowMs: 60_000 }]
  return [
    of.auditLog({ sinks: { name: 'none', write: () => {} } }),
    of.tracing({ log: false }),
    of.rateLimit({ level: 'agent', name: 'runs', limits }),
    of.budget({ limits: { modelCalls: 20 } }),
    of.maxTokens({ maxInputTokens: 100_000 }),
    of.toolPolicy(),
    of.pii(),
    of.promptInjection(),
    of.contentFilter(),
    of.fileValidator({ contents: true }),
    of.patchToolCalls(),
    of.cache(),
    of.toolCache(),
    of.schemaValidator(),
    of.fallback({ clients: [new Client({ model: 'b' })] }),
    of.circuitBreaker(),
    of.retry(),
    of.rateLimit({ name: 'attempts', limits }),
    of.summarizer(),
    of.historyTruncator(),
    of.timeout(),
    of.contentTruncator(),
  ]
}
