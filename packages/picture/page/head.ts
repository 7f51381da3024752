import type { Capture, Level, PlanFacts } from '../src/lines/line.ts'
import type { RunPicture } from '../src/reading/run-picture.ts'
import {
  callCounts,
  count,
  duration,
  exitWords,
  grouped,
  limitOf,
  money,
  statusOf,
  whyItEnded,
} from '../src/reading/words.ts'
import { byId, h, put, svg } from './dom.ts'
import type { State } from './state.ts'

const captureWords: Readonly<Record<Capture, string>> = {
  facts: 'Facts only: lengths and names, no content',
  redacted: 'Content, redacted',
  full: 'Full content: prompts, answers and tool data',
}

const statusSigns: Readonly<Record<string, string>> = {
  completed: '✓',
  failed: '✕',
  blocked: '■',
  aborted: '✕',
  paused: '‖',
  open: '…',
}

/** Draws the head: what the run was, how and why it ended, and what it took. */
export function drawHead(state: State, onRun: (index: number) => void): void {
  const { run, runs } = state
  const head = byId('head')
  if (run === undefined) {
    put(head, h('h1', {}, 'No run'), h('p', { class: 'why' }, 'The recording has no run yet.'))
    return
  }
  const { line } = run
  const { plan } = line ?? {}
  const status = statusOf(run)
  put(
    head,
    h(
      'div',
      { class: 'title' },
      logo(),
      h('h1', {}, line?.agent ?? 'Run'),
      h(
        'span',
        { class: `status ${status}`, id: 'status' },
        h('span', { 'aria-hidden': 'true' }, `${statusSigns[status] ?? '●'} `),
        exitWords[status] ?? status,
      ),
      state.isLive && h('span', { class: 'live' }, 'live'),
      runs.length > 1 && runPicker(state, onRun),
    ),
    h('p', { class: 'why' }, whyItEnded(run)),
    h('dl', { class: 'stats' }, ...(plan === undefined ? statsOf(run) : plannedStats(plan))),
    h(
      'div',
      { class: 'onions' },
      ...(['agent', 'chat', 'function'] as const).map((level) => onion(level, state)),
    ),
    h('p', { class: 'about' }, ...(plan === undefined ? aboutOf(state) : warningsOf(plan))),
  )
}

function statsOf(run: RunPicture): Node[] {
  const models = callCounts(run, 'model')
  const tools = callCounts(run, 'tool')
  const { usage = {}, cost } = run.end ?? {}
  const cached = usage.cachedInputTokens ?? 0
  const failed = (calls: number) => (calls > 0 ? `${calls} failed` : undefined)
  return [
    stat('Time', duration(run.last - run.start)),
    stat('Model calls', grouped(models.all), failed(models.failed)),
    stat('Tool calls', grouped(tools.all), failed(tools.failed)),
    stat(
      'Tokens in',
      usage.inputTokens === undefined ? '–' : grouped(usage.inputTokens),
      cached > 0 ? `${grouped(cached)} cached` : undefined,
    ),
    stat('Tokens out', usage.outputTokens === undefined ? '–' : grouped(usage.outputTokens)),
    stat('Cost', cost === undefined ? '–' : money(cost)),
  ]
}

function plannedStats({ modelCalls, toolCalls }: PlanFacts): Node[] {
  return [stat('Model calls', limitOf(modelCalls)), stat('Tool calls', limitOf(toolCalls))]
}

/** How much the recording holds, and of which run. */
function aboutOf({ run, unreadable }: State): Node[] {
  const { line, end } = run ?? {}
  const { dropped = 0 } = end ?? {}
  const nodes: Node[] = [
    h(
      'span',
      { class: `capture ${line?.capture ?? 'facts'}` },
      captureWords[line?.capture ?? 'facts'],
    ),
  ]
  if (line !== undefined) {
    const at = line.at.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')
    nodes.push(h('span', {}, `${line.stream ? 'streamed' : 'not streamed'} · ${at} · ${line.id}`))
  }
  if (unreadable > 0) nodes.push(warning(`${count(unreadable, 'line')} could not be read`))
  if (dropped > 0) nodes.push(warning(`${count(dropped, 'line')} left out by the recorder`))
  return nodes
}

function warningsOf({ warnings }: PlanFacts): Node[] {
  return warnings.map(warning)
}

function warning(text: string): Node {
  return h('span', { class: 'warning' }, text)
}

function stat(name: string, value: string, note?: string): Node {
  return h(
    'div',
    {},
    h('dt', {}, name),
    h('dd', {}, value, note !== undefined && h('small', {}, note)),
  )
}

const levelNames: Readonly<Record<Level, string>> = {
  agent: 'Run',
  chat: 'Model call',
  function: 'Tool call',
}

/** The middleware of a level, each inside the one before it. */
function onion(level: Level, { run }: State): HTMLElement {
  const line = run?.line
  const names = line?.middleware[level].map(({ name }) => name) ?? []
  const cores: Record<Level, string> = {
    agent: 'loop',
    chat: [line?.client, line?.model].filter(Boolean).join(' ') || 'provider',
    function: line?.tools.join(', ') || 'no tools',
  }
  let inner: HTMLElement = h('span', { class: 'kernel' }, cores[level])
  for (const name of names.toReversed())
    inner = h('span', { class: 'ring' }, h('span', {}, name), inner)
  return h(
    'div',
    { class: `onion ${level}` },
    h('span', { class: 'level' }, levelNames[level]),
    inner,
  )
}

function runPicker({ runs, run }: State, onRun: (index: number) => void): HTMLElement {
  const options = runs.map((each, index) => {
    const name = `${index + 1}. ${each.line?.agent ?? 'run'} · ${exitWords[statusOf(each)] ?? ''}`
    return h('option', { value: index, selected: each === run }, name)
  })
  return h(
    'label',
    { class: 'runs' },
    'Run ',
    h(
      'select',
      { onchange: (event: Event) => onRun(Number((event.target as HTMLSelectElement).value)) },
      ...options,
    ),
  )
}

function logo(): SVGElement {
  const ring = (r: number, name: string) => svg('circle', { cx: 16, cy: 16, r, class: name })
  return svg(
    'svg',
    { viewBox: '0 0 32 32', class: 'logo', 'aria-hidden': 'true' },
    ring(14, 'agent'),
    ring(9.5, 'chat'),
    ring(5, 'function'),
  )
}
