import type { EventLine } from '../src/lines/line.ts'
import type { CallPicture } from '../src/reading/run-picture.ts'
import { count, duration } from '../src/reading/words.ts'
import { h, marked, put } from './dom.ts'

/** Events of a call, or of the whole run. */
export function eventsView(call: CallPicture, query: string): Node[] {
  const events = call.line.c === 0 ? call.run.events : call.events
  if (events.length === 0) return [h('p', { class: 'empty' }, 'No events.')]
  const types = [...new Set(events.map(({ type }) => type))]
  const body = h('tbody')
  const show = (type: string): void =>
    put(
      body,
      ...events
        .filter((event) => type === '' || event.type === type)
        .map((event) => eventRow(event, query)),
    )
  show('')
  const choice = h(
    'select',
    {
      id: 'event-type',
      onchange: (event: Event) => show((event.target as HTMLSelectElement).value),
    },
    h('option', { value: '' }, 'all types'),
    ...types.map((type) => h('option', { value: type }, type)),
  )
  return [
    h(
      'div',
      { class: 'event-filter' },
      h('label', { for: 'event-type' }, count(events.length, 'event')),
      choice,
    ),
    h(
      'table',
      { class: 'events' },
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          h('th', { scope: 'col' }, 'Time'),
          h('th', { scope: 'col' }, 'Type'),
          h('th', { scope: 'col' }, 'Facts'),
        ),
      ),
      body,
    ),
  ]
}

function eventRow({ t, type, facts = {} }: EventLine, query: string): HTMLElement {
  const pairs = Object.entries(facts).flatMap(([name, value]) => [
    h('span', { class: 'fact' }, h('b', {}, name), ' ', marked(said(value), query)),
    ' ',
  ])
  return h(
    'tr',
    {},
    h('td', { class: 'at' }, duration(t)),
    h('td', {}, h('span', { class: 'type' }, marked(type, query))),
    h('td', {}, ...pairs),
  )
}

/** A value, a number with at most three decimals. */
function said(value: string | number | boolean): string {
  return String(typeof value === 'number' ? Math.round(value * 1000) / 1000 : value)
}
