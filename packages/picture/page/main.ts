import type { Line } from '../src/lines/line.ts'
import type { OnionRow } from '../src/reading/onion.ts'
import { flatRows, onionOf } from '../src/reading/onion.ts'
import { RecordingReader } from '../src/reading/recording-reader.ts'
import { isPlanned } from '../src/reading/run-picture.ts'
import { exitWords, nameOfCall, statusOf } from '../src/reading/words.ts'
import { byId, button, h, put } from './dom.ts'
import { eventsView } from './events-view.ts'
import { drawHead } from './head.ts'
import { listenToKeys } from './keys.ts'
import { followLines } from './live.ts'
import { planView } from './plan-view.ts'
import { requestAsJson, requestView } from './request-view.ts'
import { resultView } from './result-view.ts'
import type { Filter, State, Tab } from './state.ts'
import { keyOf, readAddress, writeAddress } from './state.ts'
import { streamView } from './stream-view.ts'
import { drawAxis, drawTree, markPill, shownRows, wholeTime } from './tree.ts'
import { listenToZoom } from './zoom.ts'

interface Data {
  readonly lines: readonly Line[]
  readonly unreadable: number
  /** Address of more lines, in a page that follows a file. */
  readonly live?: string | undefined
}

const data = JSON.parse(byId('data').textContent) as Data
const reader = new RecordingReader()
for (const line of data.lines) reader.add(line)

const state: State = {
  runs: reader.runs,
  unreadable: data.unreadable,
  run: reader.runs[0],
  tree: undefined,
  selected: undefined,
  tab: 'request',
  step: undefined,
  attempt: undefined,
  query: '',
  filter: 'all',
  folds: new Map(),
  zoom: undefined,
  isLive: data.live !== undefined,
}

const table = byId('tree')
const search = byId('search') as HTMLInputElement
const found = byId('found')

function refresh(): void {
  state.run ??= state.runs[0]
  state.tree = state.run && onionOf(state.run)
  if (state.tree !== undefined && state.folds.size === 0) {
    const first = firstChoice(state.tree)
    state.selected ??= first
  }
  if (state.tree !== undefined) state.selected ??= keyOf(state.tree)
  drawHead(state, (index) => {
    state.run = state.runs[index]
    state.selected = undefined
    state.folds.clear()
    state.zoom = undefined
    refresh()
  })
  document.title =
    state.run === undefined
      ? 'Picture of a run'
      : `${state.run.line?.agent ?? 'Run'}: ${exitWords[statusOf(state.run)] ?? ''}`
  redraw()
}

/** Chooses the row to look at first: the first problem, or the first model call. Small runs are folded out. */
function firstChoice(tree: OnionRow): string {
  const rows = flatRows(tree).map(({ row }) => row)
  const calls = rows.filter(({ kind }) => kind === 'model' || kind === 'tool')
  const first =
    calls.find(({ marks }) => marks.some(({ kind }) => kind === 'failed' || kind === 'ended')) ??
    calls[0] ??
    tree
  const isSmall = rows.length <= 24 && innerWidth > 640
  for (const row of isSmall ? rows : [first]) state.folds.set(keyOf(row), true)
  return keyOf(first)
}

function redraw(): void {
  const rows = shownRows(state)
  drawAxis(byId('axis'), state)
  drawTree(table, state, rows, choose, fold)
  const hits = rows.filter(({ row }) => row.kind === 'model' || row.kind === 'tool').length
  put(
    found,
    state.query === '' && state.filter === 'all' ? '' : hits === 1 ? '1 call' : `${hits} calls`,
  )
  for (const chip of document.querySelectorAll<HTMLElement>('[data-filter]'))
    chip.setAttribute('aria-pressed', String(chip.dataset['filter'] === state.filter))
  byId('unzoom').hidden = state.zoom === undefined
  drawDetail()
}

function selectedRow(): OnionRow | undefined {
  if (state.tree === undefined) return undefined
  return flatRows(state.tree).find(({ row }) => keyOf(row) === state.selected)?.row ?? state.tree
}

function drawDetail(): void {
  const row = selectedRow()
  if (row === undefined) return
  const { call, place, marks } = row
  const isPlan = isPlanned(call.run)
  document.body.classList.toggle('planned', isPlan)
  if (isPlan) {
    put(byId('detail-head'), h('h2', {}, row.name))
    put(byId('detail-body'), ...planView(row))
    byId('detail-body').setAttribute('aria-label', row.name)
    return writeAddress(state)
  }
  const isTool = call.level === 'function'
  const tabs: Readonly<Record<Tab, string>> = {
    request: isTool ? 'Arguments' : 'Request',
    stream: 'Stream',
    result: 'Result',
    events: 'Events',
  }
  const tab = isTool && state.tab === 'stream' ? 'request' : state.tab
  const name =
    row.kind === 'middleware' || row.kind === 'core'
      ? `${row.name} in ${nameOfCall(call).toLowerCase()}`
      : row.name
  put(
    byId('detail-head'),
    h('h2', {}, name),
    h('div', { class: 'marks' }, ...marks.map(markPill)),
    h(
      'div',
      { role: 'tablist', 'aria-label': 'Parts of the call', class: 'tabs' },
      ...(Object.keys(tabs) as Tab[])
        .filter((each) => !isTool || each !== 'stream')
        .map((each) =>
          button(tabs[each], () => showTab(each), {
            role: 'tab',
            id: `tab-${each}`,
            'aria-selected': String(each === tab),
            'aria-controls': 'detail-body',
            tabindex: each === tab ? 0 : -1,
          }),
        ),
    ),
    copyButton(() => requestAsJson(call, state.attempt)),
  )
  const body = byId('detail-body')
  body.setAttribute('aria-labelledby', `tab-${tab}`)
  const { query } = state
  if (tab === 'request') {
    put(
      body,
      ...requestView(
        call,
        place,
        state,
        (step) => update({ step }),
        (attempt) => update({ attempt }),
      ),
    )
  } else if (tab === 'stream') put(body, ...streamView(call, query))
  else if (tab === 'result') put(body, ...resultView(call, query))
  else put(body, ...eventsView(call, query))
  writeAddress(state)
}

function copyButton(textOf: () => string): HTMLElement {
  const copy = button(
    'Copy request',
    () => {
      const area = h('textarea', { class: 'sr' }, textOf())
      document.body.append(area)
      area.select()
      // The one that also works from a file.
      const isCopied = document.execCommand('copy')
      area.remove()
      copy.textContent = isCopied ? 'Copied' : 'Could not copy'
      copy.focus()
    },
    { class: 'copy' },
  )
  return copy
}

function select(key: string): void {
  update({ selected: key, step: undefined, attempt: undefined })
  byId(`row-${key}`)?.scrollIntoView({ block: 'nearest' })
}

/** Selects a row by a click: where the call stands below the rows, the page goes there. */
function choose(key: string): void {
  select(key)
  if (innerWidth <= 640) byId('detail').scrollIntoView()
}

function fold(key: string, isOpen: boolean): void {
  state.folds.set(key, isOpen)
  redraw()
}

function showTab(tab: Tab): void {
  update({ tab })
  byId(`tab-${tab}`)?.focus()
}

function update(change: Partial<State>): void {
  Object.assign(state, change)
  redraw()
}

function foldAll(isOpen: boolean): void {
  if (state.tree === undefined) return
  for (const { row, depth } of flatRows(state.tree))
    if (depth > 1) state.folds.set(keyOf(row), isOpen)
  redraw()
}

search.addEventListener('input', () => update({ query: search.value.trim().toLowerCase() }))
byId('unfold').addEventListener('click', () => foldAll(true))
byId('fold').addEventListener('click', () => foldAll(false))
for (const chip of document.querySelectorAll<HTMLElement>('[data-filter]'))
  chip.addEventListener('click', () => update({ filter: chip.dataset['filter'] as Filter }))
window.addEventListener('hashchange', () => {
  readAddress(state)
  refresh()
})

listenToKeys({
  state,
  table,
  search,
  rows: () => shownRows(state),
  select,
  fold,
  showTab,
  zoom: (by) => update({ zoom: zoomed(by) }),
})
listenToZoom(
  byId('axis'),
  (from, to) => update({ zoom: share(from, to) }),
  () => update({ zoom: undefined }),
)
byId('zoom-in').addEventListener('click', () => update({ zoom: zoomed(0.5) }))
byId('zoom-out').addEventListener('click', () => update({ zoom: zoomed(2) }))
byId('unzoom').addEventListener('click', () => update({ zoom: undefined }))

/** A part of the time that is shown now. */
function share(from: number, to: number): [number, number] {
  const [start, end] = state.zoom ?? wholeTime(state)
  return [start + from * (end - start), start + to * (end - start)]
}

/** The time around the selected row, longer or shorter by a factor. */
function zoomed(by: number): readonly [number, number] | undefined {
  const [start, end] = wholeTime(state)
  const [from, to] = state.zoom ?? [start, end]
  const bar = selectedRow()?.bars[0]
  const middle = by < 1 && bar !== undefined ? (bar.from + bar.to) / 2 : (from + to) / 2
  const length = (to - from) * by
  if (length >= end - start) return undefined
  const left = Math.max(start, Math.min(end - length, middle - length / 2))
  return [left, left + length]
}

readAddress(state)
refresh()
if (data.live !== undefined) {
  followLines(data.live, (lines, unreadable) => {
    const before = state.run && statusOf(state.run)
    for (const line of lines) reader.add(line)
    state.unreadable += unreadable
    refresh()
    const after = state.run && statusOf(state.run)
    if (after !== before && after !== undefined)
      put(byId('said'), `The run: ${exitWords[after] ?? after}`)
  })
}
