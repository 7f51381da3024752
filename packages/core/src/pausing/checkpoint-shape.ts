/**
 * The part of a value that is read: its type, a list of one shape (or of anything), or fields, of which those with `?` may be
 * missing. A function chooses the shape by what the value holds.
 */
type Shape =
  | string
  | readonly Shape[]
  | { readonly [name: string]: Shape }
  | ((value: Readonly<Record<string, unknown>>) => Shape)

/** Returns the place of the first value that is not of its shape, such as `.journal[2].at`. */
export function misfit(shape: Shape, value: unknown, place = ''): string | undefined {
  if (typeof shape === 'string') return typeof value === shape ? undefined : place
  const isList = Array.isArray(value)
  if (typeof value !== 'object' || value === null) return place
  if (typeof shape === 'function') return isList ? place : misfit(shape({ ...value }), value, place)
  if (isList !== Array.isArray(shape)) return place
  // A copy, as a list may have holes.
  const [each] = isList ? (shape as readonly Shape[]) : []
  for (const [key, inner] of Object.entries(isList ? (each ? [...value] : []) : shape)) {
    const name = isList ? key : key.replace('?', '')
    const found: unknown = value[name as never]
    if (found === undefined && name !== key) continue
    const at = isList ? `${place}[${name}]` : `${place}.${name}`
    const wrong = misfit(each ?? (inner as Shape), found, at)
    if (wrong !== undefined) return wrong
  }
  return undefined
}

const choice = (by: string, shapes: { readonly [name: string]: Shape }, other = 'none'): Shape => {
  const known = new Map<unknown, Shape>(Object.entries(shapes))
  return ({ [by]: name }) => known.get(name) ?? other
}
const counts: Shape = (value) =>
  Object.fromEntries(Object.keys(value).map((name) => [name, 'number']))

const call = { callId: 'string', name: 'string', arguments: 'string' }
const request = { id: 'string', call }
const content = choice(
  'type',
  {
    'function-call': call,
    'function-result': { callId: 'string', contents: [{ type: 'string' }] },
    'approval-request': request,
    'approval-response': { id: 'string' },
  },
  'object',
)
const message = { id: 'string', role: 'string', contents: [content] }
const messages = [message]
const response = { messages, 'usage?': counts }
const result = { address: 'string', result: { contents: [{ type: 'string' }] } }
const waiting = { id: 'string', address: 'string' }
const pending = [
  choice('kind', {
    approval: { ...waiting, request },
    'function-call': { ...waiting, call },
    interrupt: waiting,
  }),
]
const edits = { 'instructions?': 'string', 'options?': {} }
const tools = { visible: ['string'], withheld: [[]], returnDirect: [[]], 'edited?': [[]] }

/** Shape of the last step of a checkpoint. */
export const stateShape: Shape = {
  id: 'string',
  runId: 'string',
  paused: 'boolean',
  pending,
  'moreIterations?': 'number',
  usage: counts,
  attempts: [{}],
  cells: {},
  'tools?': tools,
  'stopped?': { reason: 'string' },
}

/** Shape of a checkpoint. */
export const checkpointShape: Shape = {
  input: messages,
  journal: [
    choice('kind', {
      begin: { messages, ...edits },
      early: { messages, ...edits, tools, depth: 'number', moreIterations: 'number' },
      response: { messages },
      messages: { messages },
      rewrite: { messages },
      revise: { count: 'number', messages },
      request: { message },
      calls: { group: 'string' },
      results: { at: 'number', message, executed: 'number' },
      model: { response },
      tool: result,
      call: result,
      start: { address: 'string' },
      answer: waiting,
      agent: { address: 'string', 'checkpoint?': () => checkpointShape },
      end: { response: { messages, status: 'string', pending } },
      state: stateShape,
    }),
  ],
}
