// Measures what core costs whoever changes it, and fails if a figure is above its baseline in core-measure.json: lines
// of code, names of each entry, files and calls of a run, and fields of a run that other rooms write.
// usage: node --conditions=@lamella/source scripts/core-measure.mjs [--release | --decision=<record>] [--cost=<commit>]
// `--cost` prints the processor time of runs over that of another commit, interleaved in one process. Times need a
// quiet machine, so no check holds them.
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { Session } from 'node:inspector/promises'
import { tmpdir } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isMoving, moveBaseline, readBaseline } from './baseline.mjs'

const sources = resolve('packages/core/src')
const baselineFile = 'scripts/core-measure.json'
const commit = process.argv.find((flag) => flag.startsWith('--cost='))?.slice('--cost='.length)

if (commit === undefined) await checkFigures()
else await printCost(commit)

async function checkFigures() {
  const files = readdirSync(sources, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !/\.test(-d|-helper)?\.ts$/.test(file))
    .map((file) => ({ file, text: readFileSync(join(sources, file), 'utf8') }))
  const figures = {
    'lines of code': files.reduce((sum, { text }) => sum + linesOf(text), 0),
    ...Object.fromEntries(
      files
        .filter(({ file }) => !file.includes('/'))
        .map(({ file, text }) => [`names of ${file}`, namesOf(text)])
        .filter(([, names]) => names > 0),
    ),
    'fields of a run that other rooms write': fieldsWritten(files),
    ...(await workOfRuns()),
  }
  const before = isMoving() ? figures : readBaseline(baselineFile)
  let problems = 0
  for (const [name, now] of Object.entries(figures)) {
    const limit = before[name] ?? 0
    if (now > limit) problems++
    console.log(
      `${name.padEnd(58)} ${String(now).padStart(6)}, baseline ${limit}${now > limit ? ': MORE' : ''}`,
    )
  }
  moveBaseline(baselineFile, figures)
  if (problems === 0) return
  console.error(
    'Make it smaller, or record why it has to be: see docs/decisions/0024-fixed-baselines.md',
  )
  process.exitCode = 1
}

/** Lines without comments and blank lines. */
function linesOf(text) {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, '')
    .split('\n')
    .filter((line) => line.trim() && !line.trim().startsWith('//')).length
}

function namesOf(text) {
  return [...text.matchAll(/export\s+(?:type\s+)?\{([^}]*)\}/g)].flatMap(([, names]) =>
    names.split(',').filter((name) => name.trim()),
  ).length
}

function fieldsWritten(files) {
  const outside = files.filter(({ file }) => !file.startsWith('run/'))
  const assignment = /\brun\.(\w+)\s*(?:=(?![=>])|\+=|-=|\?\?=|\|\|=|&&=|\+\+|--)/g
  return new Set(
    outside.flatMap(({ text }) => [...text.matchAll(assignment)].map(([, field]) => field)),
  ).size
}

/** Files that a run enters and functions that it calls, by kind of run. */
async function workOfRuns() {
  const session = new Session()
  session.connect()
  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const { bare, round } = runsOf(await import(pathToFileURL(join(sources, 'index.ts')).href), 1)
  const base = pathToFileURL(sources).href
  const entered = async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage')
    return result
      .filter(({ url }) => url.startsWith(base))
      .map(({ url, functions }) => ({
        file: relative(base, url),
        calls: functions
          .filter(({ functionName }) => functionName !== '')
          .reduce((sum, { ranges }) => sum + ranges[0].count, 0),
      }))
      .filter(({ calls }) => calls > 0)
  }
  const runs = {
    'a bare run': () => bare.run('hi'),
    'a tool round, a middleware a level': () => round.run('hi'),
    'the same streamed': async () => {
      for await (const _ of round.run('hi', { stream: true }));
    },
  }
  const figures = {}
  for (const [name, work] of Object.entries(runs)) {
    await entered()
    await work()
    const rows = await entered()
    figures[`files of ${name}`] = rows.length
    figures[`calls of ${name}`] = rows.reduce((sum, { calls }) => sum + calls, 0)
  }
  return figures
}

/** A bare agent, one with a tool, and one with a tool and middleware at each level, on a version of core. */
function runsOf(core, middlewaresPerLevel) {
  let count = 0
  const answer = (contents, finishReason) =>
    core.chatResponse({
      messages: [{ id: `m${count++}`, role: 'assistant', contents }],
      usage: { inputTokens: 1, outputTokens: 1 },
      finishReason,
    })
  const respond = ({ options, messages }) =>
    options.tools && messages.at(-1).role !== 'tool'
      ? answer(
          [{ type: 'function-call', callId: `c${count}`, name: 'now', arguments: '{}' }],
          'tool-calls',
        )
      : answer([{ type: 'text', text: 'Hello.' }], 'stop')
  class Client extends core.BaseChatClient {
    provider = 'fake'
    constructor() {
      super({ model: 'fake' })
    }
    async respond(request) {
      return respond(request)
    }
    async *stream(request) {
      yield* core.toUpdates(respond(request))
    }
  }
  const now = core.tool({
    name: 'now',
    description: 'Tells the time.',
    execute: () => 'noon',
  })
  const pass = (_, callNext) => callNext()
  const middleware = Array.from({ length: middlewaresPerLevel }, (_, at) => [
    core.agentMiddleware(`agent-${at}`, pass),
    core.chatMiddleware(`chat-${at}`, async (context, callNext) => {
      context.transformUpdates({ transform: (update, controller) => controller.enqueue(update) })
      await callNext()
    }),
    core.functionMiddleware(`function-${at}`, pass),
  ]).flat()
  return {
    bare: new core.Agent({ client: new Client() }),
    tooled: new core.Agent({ client: new Client(), tools: [now] }),
    round: new core.Agent({ client: new Client(), tools: [now], middleware }),
  }
}

async function printCost(of) {
  const folder = mkdtempSync(join(tmpdir(), 'lamella-cost-'))
  try {
    const archive = execFileSync('git', ['archive', of, 'packages/core'], { maxBuffer: 2 ** 30 })
    mkdirSync(join(folder, 'other'))
    execFileSync('tar', ['-x', '-C', join(folder, 'other')], { input: archive })
    const other = await import(pathToFileURL(join(folder, 'other/packages/core/src/index.ts')).href)
    const here = await import(pathToFileURL(join(sources, 'index.ts')).href)
    const [before, after] = [runsOf(other, 3), runsOf(here, 3)]
    for (const name of Object.keys(after)) {
      const sides = [before[name], after[name]].map((agent) => () => timeOf(agent))
      for (const side of sides) await side()
      const ratios = []
      for (let pair = 0; pair < 15; pair++) {
        const [first, second] = [await sides[0](), await sides[1]()]
        ratios.push(second / first)
      }
      const median = ratios.toSorted((a, b) => a - b)[7]
      console.log(`${name.padEnd(10)} takes ${median.toFixed(2)} times as long as at ${of}`)
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Microseconds of the processor for each of many runs. */
async function timeOf(agent) {
  const before = process.cpuUsage()
  for (let run = 0; run < 2000; run++) await agent.run('hi')
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 2000
}
