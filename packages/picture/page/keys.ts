import { byId } from './dom.ts'
import type { State, Tab } from './state.ts'
import type { ShownRow } from './tree.ts'

/** State and elements that keys act on. */
export interface Keyboard {
  readonly state: State
  readonly table: HTMLElement
  readonly search: HTMLInputElement
  rows(): readonly ShownRow[]
  select(key: string): void
  fold(key: string, isOpen: boolean): void
  showTab(tab: Tab): void
  zoom(by: number): void
}

const tabs: readonly Tab[] = ['request', 'stream', 'result', 'events']

/** Makes the page work without a mouse. */
export function listenToKeys(page: Keyboard): void {
  const help = byId('help') as HTMLDialogElement
  byId('keys').addEventListener('click', () => help.showModal())
  byId('close-help').addEventListener('click', () => help.close())
  page.table.addEventListener('keydown', (event) => onTreeKey(event, page))
  byId('detail-head').addEventListener('keydown', (event) => onTabKey(event, page))
  document.addEventListener('keydown', (event) => {
    const { target, key } = event
    const isTyping = target instanceof HTMLElement && target.matches('input, select, textarea')
    if (event.ctrlKey || event.metaKey || event.altKey || help.open) return
    if (key === 'Escape') backToTree(page)
    else if (isTyping && key === 'Enter' && target === page.search) step(page, 1, true)
    else if (!isTyping) onPageKey(event, page, help)
  })
}

function onPageKey(event: KeyboardEvent, page: Keyboard, help: HTMLDialogElement): void {
  const { key } = event
  if (key === '/') page.search.focus()
  else if (key === '?') help.showModal()
  else if (key === 'j') step(page, 1, false)
  else if (key === 'k') step(page, -1, false)
  else if (key === 'n') step(page, 1, true)
  else if (key === 'N') step(page, -1, true)
  else if (key === '+') page.zoom(0.5)
  else if (key === '-') page.zoom(2)
  else if (/^[1-4]$/.test(key)) page.showTab(tabs[Number(key) - 1]!)
  else return
  event.preventDefault()
}

function onTreeKey(event: KeyboardEvent, page: Keyboard): void {
  const rows = page.rows()
  const at = Math.max(
    0,
    rows.findIndex(({ key }) => key === page.state.selected),
  )
  const current = rows[at]
  if (current === undefined || event.ctrlKey || event.metaKey || event.altKey) return
  const { key, isOpen, depth, row } = current
  const go = (index: number): void => {
    const next = rows[Math.max(0, Math.min(rows.length - 1, index))]
    if (next !== undefined) page.select(next.key)
  }
  if (event.key === 'ArrowDown') go(at + 1)
  else if (event.key === 'ArrowUp') go(at - 1)
  else if (event.key === 'Home') go(0)
  else if (event.key === 'End') go(rows.length - 1)
  else if (event.key === 'ArrowRight' && row.children.length > 0 && !isOpen) page.fold(key, true)
  else if (event.key === 'ArrowRight') go(at + 1)
  else if (event.key === 'ArrowLeft' && isOpen) page.fold(key, false)
  else if (event.key === 'ArrowLeft')
    go(rows.findLastIndex((other, index) => index < at && other.depth < depth))
  else if (event.key === 'Enter')
    byId('detail-head').querySelector<HTMLElement>('[role="tab"][tabindex="0"]')?.focus()
  else return
  event.preventDefault()
  event.stopPropagation()
}

function onTabKey(event: KeyboardEvent, page: Keyboard): void {
  const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
  if (by === undefined || !(event.target instanceof HTMLElement) || event.target.role !== 'tab')
    return
  const all = [...byId('detail-head').querySelectorAll<HTMLElement>('[role="tab"]')]
  const next = all[(all.indexOf(event.target) + by + all.length) % all.length]
  if (next !== undefined) page.showTab(next.id.replace('tab-', '') as Tab)
  event.preventDefault()
}

/** Selects the next row, or the next call. */
function step(page: Keyboard, by: number, isCall: boolean): void {
  const rows = page.rows()
  const fits = ({ row }: ShownRow): boolean =>
    !isCall || row.kind === 'model' || row.kind === 'tool'
  const at = rows.findIndex(({ key }) => key === page.state.selected)
  const next =
    by > 0
      ? rows.findIndex((row, index) => index > at && fits(row))
      : rows.findLastIndex((row, index) => index < at && fits(row))
  const wrapped =
    next >= 0 || !isCall ? next : by > 0 ? rows.findIndex(fits) : rows.findLastIndex(fits)
  const found = rows[wrapped]
  if (found === undefined) return
  page.select(found.key)
  backToTree(page)
}

function backToTree({ table }: Keyboard): void {
  table.querySelector<HTMLElement>('[tabindex="0"]')?.focus()
}
