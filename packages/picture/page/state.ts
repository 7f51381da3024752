import type { OnionRow } from '../src/reading/onion.ts'
import type { RunPicture } from '../src/reading/run-picture.ts'

/** Parts of the detail panel. */
export type Tab = 'request' | 'stream' | 'result' | 'events'

/** Rows that a filter shows. */
export type Filter = 'all' | 'models' | 'tools' | 'problems' | 'changes'

/** State of the page. */
export interface State {
  runs: readonly RunPicture[]
  /** Lines that could not be read. */
  unreadable: number
  run: RunPicture | undefined
  tree: OnionRow | undefined
  /** Key of the row that is selected. */
  selected: string | undefined
  tab: Tab
  /** Probe that the request is shown at, or the middleware whose changes are; that of the row if unset. */
  step: string | undefined
  /** Attempt that is shown, from 0. The last one if unset. */
  attempt: number | undefined
  query: string
  filter: Filter
  /** Keys of rows that are folded out, and those that were folded in again. */
  readonly folds: Map<string, boolean>
  zoom: readonly [from: number, to: number] | undefined
  isLive: boolean
}

/** Name of a row that is the same after new lines have come. */
export function keyOf({ kind, call, place }: OnionRow): string {
  const { run, line } = call
  return `${run.r}.${kind === 'run' ? 'run' : line.c}${place === undefined ? '' : `.${place}`}`
}

/** Selection and view, as the address of the page tells them. */
export function readAddress(state: State): void {
  const told = new URLSearchParams(location.hash.slice(1))
  const run = state.runs[Number(told.get('run') ?? 1) - 1]
  if (run !== undefined) state.run = run
  state.selected = told.get('at') ?? undefined
  const tab = told.get('show')
  if (tab === 'request' || tab === 'stream' || tab === 'result' || tab === 'events') state.tab = tab
  state.step = told.get('step') ?? undefined
}

export function writeAddress({ runs, run, selected, tab, step }: State): void {
  const told = new URLSearchParams()
  if (runs.length > 1 && run !== undefined) told.set('run', String(runs.indexOf(run) + 1))
  if (selected !== undefined) told.set('at', selected)
  told.set('show', tab)
  if (step !== undefined) told.set('step', step)
  history.replaceState(null, '', `#${told}`)
}
