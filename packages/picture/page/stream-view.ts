import type { HeldSpan, Lane, Piece } from '../src/reading/lanes.ts'
import { heldSpans, lanesOf } from '../src/reading/lanes.ts'
import type { CallPicture } from '../src/reading/run-picture.ts'
import { middlewareOf } from '../src/reading/run-picture.ts'
import { count, duration } from '../src/reading/words.ts'
import { h, marked, put, svg } from './dom.ts'

const width = 1000
const laneHeight = 26

/** Lanes of the stream of a call, from the inside out, and what had passed at a moment. */
export function streamView(call: CallPicture, query: string): Node[] {
  const lanes = lanesOf(call).toReversed()
  const all = lanes.flatMap(({ pieces }) => pieces)
  if (all.length === 0)
    return [
      h(
        'p',
        { class: 'empty' },
        'No updates passed. Tool calls have none, and a call that failed may have none.',
      ),
    ]
  const from = Math.min(...times(all, Math.min))
  const to = Math.max(from + 0.001, ...times(all, Math.max))
  const names = laneNames(call)
  const drawn = lanes.map((lane, index) => {
    const outside = lanes[index + 1]
    const held = outside === undefined ? [] : heldSpans(lane, outside)
    return laneFigure(names[index]!, lane, held, from, to)
  })
  const texts = h('div', { class: 'moment' })
  const clock = h('output', { for: 'moment' })
  const cursors = drawn.map(({ cursor }) => cursor)
  const show = (value: number): void => {
    const t = from + ((to - from) * value) / 1000
    put(clock, `${duration(t - call.line.t)} after the call began`)
    for (const cursor of cursors) cursor.setAttribute('transform', `translate(${value} 0)`)
    put(texts, ...textsAt(lanes, names, t, query))
  }
  const slider = h('input', {
    type: 'range',
    id: 'moment',
    min: 0,
    max: 1000,
    value: 1000,
    'aria-label': 'Moment of the stream',
    oninput: (event: Event) => show(Number((event.target as HTMLInputElement).value)),
  })
  show(1000)
  return [
    h(
      'p',
      { class: 'hint' },
      'Updates between the middleware, innermost first. Hatched: held back. Struck through: discarded.',
    ),
    h('div', { class: 'lanes' }, ...drawn.map(({ figure }) => figure)),
    h('div', { class: 'scrub' }, slider, clock),
    texts,
    updateList(lanes, names, call, query),
  ]
}

/** Names of the lanes from the inside out: what stands inside of each, the caller last. */
function laneNames(call: CallPicture): string[] {
  const core = call.level === 'agent' ? 'the loop' : 'the provider'
  const inside = middlewareOf(call).toReversed()
  return [`From ${core}`, ...inside.map((name) => `After ${name}`)]
}

function laneFigure(
  name: string,
  lane: Lane,
  held: readonly HeldSpan[],
  from: number,
  to: number,
): { figure: HTMLElement; cursor: SVGElement } {
  const x = (t: number): number => ((t - from) / (to - from)) * width
  const cursor = svg('g', { class: 'cursor' }, svg('path', { d: `M0 0V${laneHeight}` }))
  const hatches = held.map((span) => {
    const end = x(span.to ?? to)
    return svg('rect', {
      class: 'hatch',
      fill: `url(#hatch-${lane.p})`,
      x: x(span.from).toFixed(1),
      y: 3,
      height: laneHeight - 6,
      width: Math.max(2, end - x(span.from)).toFixed(1),
    })
  })
  const drawing = svg(
    'svg',
    { viewBox: `0 0 ${width} ${laneHeight}`, preserveAspectRatio: 'none', 'aria-hidden': 'true' },
    svg(
      'defs',
      {},
      svg(
        'pattern',
        {
          id: `hatch-${lane.p}`,
          width: 14,
          height: 7,
          patternUnits: 'userSpaceOnUse',
          patternTransform: 'rotate(45)',
        },
        svg('path', { class: 'hatching', d: 'M0 0V7' }),
      ),
    ),
    svg('path', { class: 'ground', d: `M0 ${laneHeight / 2}H${width}` }),
    ...hatches,
    svg('path', {
      class: 'ticks',
      d: ticks(
        lane.pieces.filter((piece) => !piece.void),
        x,
      ),
    }),
    svg('path', {
      class: 'ticks void',
      d: ticks(
        lane.pieces.filter((piece) => piece.void),
        x,
      ),
    }),
    svg('path', { class: 'strike', d: strike(lane.pieces, x) }),
    cursor,
  )
  const gone = lane.pieces.filter((piece) => piece.void).length
  const longest = Math.max(0, ...held.map((span) => (span.to ?? to) - span.from))
  const words = [
    count(lane.pieces.length, 'piece'),
    count(lane.len, 'character'),
    gone > 0 ? `${count(gone, 'piece')} discarded` : '',
    longest > 0 ? `held back up to ${duration(longest)}` : '',
  ]
  const caption = h(
    'figcaption',
    {},
    h('b', {}, name),
    h('span', {}, words.filter(Boolean).join(' · ')),
  )
  return { figure: h('figure', { class: 'lane' }, caption, drawing), cursor }
}

/** One mark for each place where something passed: more than a thousand nobody can tell apart. */
function ticks(pieces: readonly Piece[], x: (t: number) => number): string {
  const places = new Set(pieces.map(({ t }) => Math.round(x(t))))
  return [...places].map((at) => `M${at} 5V${laneHeight - 5}`).join('')
}

function strike(pieces: readonly Piece[], x: (t: number) => number): string {
  const gone = pieces.filter((piece) => piece.void)
  if (gone.length === 0) return ''
  return `M${x(gone[0]!.t).toFixed(1)} ${laneHeight / 2}H${(x(gone.at(-1)!.t) + 4).toFixed(1)}`
}

function textsAt(
  lanes: readonly Lane[],
  names: readonly string[],
  t: number,
  query: string,
): Node[] {
  const nodes: Node[] = []
  let last: string | undefined
  for (const [index, lane] of lanes.entries()) {
    const pieces = lane.pieces.filter((piece) => piece.t <= t)
    const kept = pieces.filter((piece) => !piece.void)
    const text = kept.map((piece) => piece.text).join('')
    const len = kept.reduce((sum, piece) => sum + piece.len, 0)
    const gone = pieces
      .filter((piece) => piece.void)
      .map((piece) => piece.text)
      .join('')
    const key = `${len} ${text} ${gone}`
    const heading = h('h3', {}, names[index])
    if (key === last)
      nodes.push(
        h('div', { class: 'same-text' }, heading, h('span', { class: 'facts' }, 'the same')),
      )
    else if (text === '' && len > 0)
      nodes.push(h('div', {}, heading, h('p', { class: 'facts' }, count(len, 'character'))))
    else
      nodes.push(
        h(
          'div',
          {},
          heading,
          h(
            'pre',
            { class: 'text' },
            gone !== '' && h('del', {}, gone),
            marked(text, query),
            text === '' && gone === '' && h('span', { class: 'facts' }, 'nothing yet'),
          ),
        ),
      )
    last = key
  }
  return nodes
}

const rowHeight = 26
const around = 30

/** All updates of all lanes, of which only those near the ones that are seen are on the page. */
function updateList(
  lanes: readonly Lane[],
  names: readonly string[],
  call: CallPicture,
  query: string,
): HTMLElement {
  const rows = lanes
    .flatMap(({ pieces }, index) => pieces.map((piece) => ({ piece, name: names[index]! })))
    .filter(({ piece }) => query === '' || piece.text.toLowerCase().includes(query))
    .toSorted((left, right) => left.piece.t - right.piece.t)
  const inner = h('div', { class: 'rows' })
  inner.style.height = `${rows.length * rowHeight}px`
  const draw = (): void => {
    const first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - around)
    const visible = rows.slice(first, first + 2 * around + Math.ceil(list.clientHeight / rowHeight))
    put(
      inner,
      ...visible.map(({ piece, name }, index) => {
        const words =
          piece.text === ''
            ? [piece.types.join(', '), piece.len > 0 ? count(piece.len, 'character') : '']
                .filter(Boolean)
                .join(' ') || '(end)'
            : JSON.stringify(piece.text)
        const row = h(
          'div',
          { class: piece.void ? 'update void' : 'update' },
          h('span', { class: 'at' }, duration(piece.t - call.line.t)),
          h('span', { class: 'lane-name' }, name),
          h('span', { class: 'said' }, marked(words, query)),
        )
        row.style.top = `${(first + index) * rowHeight}px`
        return row
      }),
    )
  }
  const list = h(
    'div',
    { class: 'updates', tabindex: 0, role: 'region', 'aria-label': 'Updates', onscroll: draw },
    inner,
  )
  const found =
    query === '' ? count(rows.length, 'update') : `${count(rows.length, 'update')} with “${query}”`
  return h('details', { class: 'all-updates', ontoggle: draw }, h('summary', {}, found), list)
}

function times(pieces: readonly Piece[], best: (...values: number[]) => number): number[] {
  return [pieces.reduce((found, { t }) => best(found, t), pieces[0]!.t)]
}
