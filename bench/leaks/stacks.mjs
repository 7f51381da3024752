// Times the same tasks on the middleware that each library has built in: a limit of model calls, personal data in
// questions and answers, retries, another model on failure. Beside each, the library without any.
// usage: node --conditions=@lamella/source bench/leaks/stacks.mjs [rounds]
import { kinds } from './answers.mjs'
import { lamella, langchain, mastra, ours, peers, sent } from './libraries.mjs'

const rounds = Number(process.argv[2] ?? 9)
const [short, long] = [20, 420]
const runs = 60
const { email, phone, card, secret } = kinds
const patterns = { email, phone, card, secret }

const libraries = {
  'no library': async () => sent,

  Lamella: async (isFull) => {
    const stack = await lamellaStack()
    return lamella((other) => (isFull ? stack(other) : []))
  },

  LangChain: async (isFull) => {
    const built = await peers('langchain')
    const stack = (model) => [
      built.modelCallLimitMiddleware({ runLimit: 10 }),
      ...['email', 'credit_card', 'phone', 'secret'].map((type) =>
        built.piiMiddleware(type, {
          applyToOutput: true,
          ...(patterns[type] && type !== 'email' && { detector: patterns[type].rule }),
        }),
      ),
      built.modelFallbackMiddleware(model),
      built.modelRetryMiddleware(),
    ]
    return langchain(peers, (model) =>
      built.createAgent({ model, tools: [], middleware: isFull ? stack(model) : [] }),
    )
  },

  Mastra: async (isFull) => {
    const { RegexFilterProcessor } = await peers('@mastra/core/processors')
    const filter = new RegexFilterProcessor({
      rules: Object.entries(patterns).map(([name, { rule }]) => ({ name, pattern: rule })),
      strategy: 'redact',
    })
    const stack = (model) => ({
      model: [model, model].map((one) => ({ model: one, maxRetries: 2 })),
      inputProcessors: [filter],
      outputProcessors: [filter],
    })
    return isFull ? mastra(stack, { maxSteps: 10 }) : mastra((model) => ({ model }))
  },
}

async function lamellaStack() {
  const { budget } = await ours('@lamella/middleware-budget')
  const { fallback } = await ours('@lamella/middleware-fallback')
  const { pii } = await ours('@lamella/guardrail-pii')
  const { retry } = await ours('@lamella/middleware-retry')
  const limit = { limits: { modelCalls: 10 } }
  return (other) => [budget(limit), pii(), fallback({ clients: [other] }), retry()]
}

function answerOf(words) {
  return { pieces: Array.from({ length: words }, () => 'again ') }
}

/** Milliseconds of processor time that a run takes. */
async function timed(ask, answer) {
  const start = process.cpuUsage()
  for (let run = 0; run < runs; run++) {
    let read = ''
    for await (const piece of ask(answer, () => {})) read += piece
    if (read.length !== answer.pieces.length * 6) throw new Error(`the reader got ${read}`)
  }
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1000 / runs
}

const jobs = []
for (const [name, make] of Object.entries(libraries)) {
  jobs.push({ name, ask: await make(false), times: [] })
  if (name !== 'no library')
    jobs.push({ name: `${name}, all four`, ask: await make(true), times: [] })
}
const answers = [answerOf(short), answerOf(long)]
for (let round = -1; round < rounds; round++) {
  for (const { ask, times } of jobs) {
    const both = [await timed(ask, answers[0]), await timed(ask, answers[1])]
    if (round >= 0) times.push(both)
  }
}
const median = (list) => list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)]
console.log('| | a run, ms | a streamed word, µs |\n|---|---:|---:|')
for (const { name, times } of jobs) {
  const perWord = times.map(([few, many]) => (many - few) / (long - short))
  const perRun = times.map(([few], at) => few - short * perWord[at])
  console.log(`| ${name} | ${median(perRun).toFixed(2)} | ${(median(perWord) * 1000).toFixed(1)} |`)
}
process.exit()
