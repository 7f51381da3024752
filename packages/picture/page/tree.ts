import type { Bar, Mark, OnionRow } from '../src/reading/onion.ts'
import { isPlanned } from '../src/reading/run-picture.ts'
import { duration, money, tokens } from '../src/reading/words.ts'
import { h, marked, put } from './dom.ts'
import { isShown, matches } from './search.ts'
import type { State } from './state.ts'
import { keyOf } from './state.ts'

/** A row that is on the page. */
export interface ShownRow {
  readonly row: OnionRow
  readonly key: string
  readonly depth: number
  readonly isOpen: boolean
}

const markSigns: Readonly<Record<Mark['kind'], string>> = {
  retry: '↻',
  answered: '⚡',
  ended: '■',
  failed: '✕',
  changed: '✎',
  held: '‖',
  open: '…',
}

/** Rows in the order in which they are shown. */
export function shownRows(state: State): ShownRow[] {
  if (state.tree === undefined) return []
  const isSearch = state.query !== '' || state.filter !== 'all'
  const fits = (row: OnionRow): boolean => isShown(row, state.filter) && matches(row, state.query)
  const visit = (row: OnionRow, depth: number): ShownRow[] => {
    const below = row.children.flatMap((child) => visit(child, depth + 1))
    if (isSearch && depth > 1 && below.length === 0 && !fits(row)) return []
    const key = keyOf(row)
    const isOpen = state.folds.get(key) ?? (depth === 1 || isSearch)
    // A search that finds nothing further in leaves a call folded.
    return [{ row, key, depth, isOpen: isOpen && below.length > 0 }, ...(isOpen ? below : [])]
  }
  return visit(state.tree, 1)
}

/** Draws the onion. */
export function drawTree(
  table: HTMLElement,
  state: State,
  rows: readonly ShownRow[],
  onSelect: (key: string) => void,
  onFold: (key: string, isOpen: boolean) => void,
): void {
  const [from, to] = state.zoom ?? wholeTime(state)
  const isPlan = state.run !== undefined && isPlanned(state.run)
  const focused = table.contains(document.activeElement)
  const selected = rows.some(({ key }) => key === state.selected) ? state.selected : rows[0]?.key
  table.setAttribute('aria-rowcount', String(rows.length))
  put(
    table,
    ...rows.map(({ row, key, depth, isOpen }, index) => {
      const canFold = row.children.length > 0
      const isSelected = key === selected
      const fold = h(
        'span',
        {
          class: 'fold',
          'aria-hidden': 'true',
          onclick: (event: Event) => {
            event.stopPropagation()
            if (canFold) onFold(key, !isOpen)
          },
        },
        canFold ? (isOpen ? '▾' : '▸') : '',
      )
      const name = h(
        'div',
        { role: 'gridcell', class: 'name' },
        fold,
        h('span', { class: `dot ${row.call.level}`, 'aria-hidden': 'true' }),
        h('span', { class: 'label', title: row.name }, marked(row.name, state.query)),
      )
      name.style.setProperty('--depth', String(depth - 1))
      return h(
        'div',
        {
          role: 'row',
          class: `row ${row.kind}`,
          id: `row-${key}`,
          'aria-level': depth,
          'aria-rowindex': index + 1,
          'aria-expanded': canFold ? String(isOpen) : undefined,
          'aria-selected': String(isSelected),
          tabindex: isSelected ? 0 : -1,
          onclick: () => onSelect(key),
          ondblclick: () => canFold && onFold(key, !isOpen),
        },
        name,
        h('div', { role: 'gridcell', class: 'what' }, ...whatHappened(row)),
        h(
          'div',
          { role: 'gridcell', class: 'bars', 'aria-label': isPlan ? 'not run' : timesOf(row) },
          ...row.bars.map((bar) => drawBar(bar, row, from, to)),
        ),
        h('div', { role: 'gridcell', class: 'ms' }, ...(isPlan ? [] : timeOf(row))),
      )
    }),
  )
  if (focused) table.querySelector<HTMLElement>('[tabindex="0"]')?.focus({ preventScroll: true })
}

/** Draws the times over the bars. */
export function drawAxis(axis: HTMLElement, state: State): void {
  const [from, to] = state.zoom ?? wholeTime(state)
  const step = niceStep((to - from) / 4)
  const ticks: HTMLElement[] = []
  const start = state.run?.start ?? 0
  for (let t = Math.ceil((from - start) / step) * step; t <= to - start; t += step) {
    const share = (t + start - from) / (to - from)
    if (share > 0.8) break
    const tick = h('span', { class: 'tick' }, t === 0 ? '0' : duration(t))
    tick.style.left = `${share * 100}%`
    ticks.push(tick)
  }
  put(axis, ...ticks)
}

/** Time from the beginning of the run to its end. */
export function wholeTime({ run }: State): readonly [number, number] {
  const from = run?.start ?? 0
  return [from, Math.max(from + 0.001, run?.last ?? 0)]
}

export function markPill({ kind, text }: Mark): HTMLElement {
  return h(
    'span',
    { class: `pill ${kind}`, title: text },
    h('span', { 'aria-hidden': 'true' }, `${markSigns[kind]} `),
    text,
  )
}

function whatHappened(row: OnionRow): Node[] {
  const spent = [
    row.usage && Object.keys(row.usage).length > 0 && tokens(row.usage),
    row.cost === undefined ? '' : money(row.cost),
  ]
  const said = spent.filter(Boolean).join(' · ')
  return [...row.marks.map(markPill), ...(said === '' ? [] : [h('span', { class: 'spent' }, said)])]
}

function drawBar(bar: Bar, { call, kind }: OnionRow, from: number, to: number): HTMLElement {
  const shade = kind === 'middleware' || kind === 'core' ? bar.kind : 'call'
  const left = Math.max(0, Math.min(1, (bar.from - from) / (to - from)))
  const right = Math.max(0, Math.min(1, (bar.to - from) / (to - from)))
  const element = h('span', {
    class: `bar ${shade} ${call.level}`,
    hidden: right <= 0 || left >= 1,
  })
  element.style.left = `${left * 100}%`
  element.style.width = `${(right - left) * 100}%`
  return element
}

function timeOf({ ownMs, totalMs }: OnionRow): Node[] {
  if (ownMs === undefined) return [document.createTextNode(duration(totalMs))]
  return [h('small', {}, 'own '), document.createTextNode(duration(ownMs))]
}

function timesOf({ ownMs, totalMs }: OnionRow): string {
  return ownMs === undefined
    ? `${duration(totalMs)} in all`
    : `${duration(totalMs)} in all, ${duration(ownMs)} of its own`
}

function niceStep(wish: number): number {
  const power = 10 ** Math.floor(Math.log10(wish))
  return [1, 2, 5, 10].map((by) => by * power).find((step) => step >= wish) ?? wish
}
