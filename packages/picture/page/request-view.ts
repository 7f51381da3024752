import type { CallPicture, PassPicture, Request } from '../src/reading/run-picture.ts'
import { innermostOf, middlewareOf, passesAt } from '../src/reading/run-picture.ts'
import { diff } from '../src/reading/diff.ts'
import { count, nameOfCall } from '../src/reading/words.ts'
import { button, h } from './dom.ts'
import { diffView, messageView, pretty, textOfMessage, textView } from './message-view.ts'
import type { State } from './state.ts'

/** Steps of a request on its way in: as it came, each middleware, as the core saw it. */
interface Step {
  readonly id: string
  readonly label: string
  readonly changed: boolean
}

/** The request of a call: at its core, as it came, or what a middleware changed. */
export function requestView(
  call: CallPicture,
  place: number | undefined,
  state: State,
  onStep: (step: string) => void,
  onAttempt: (attempt: number) => void,
): Node[] {
  const innermost = innermostOf(call)
  const attempts = passesAt(call, innermost)
  const chosen = attempts[state.attempt ?? attempts.length - 1]
  const path = pathTo(call, chosen)
  const isTool = call.level === 'function'
  const before = previousCall(call)
  const steps: Step[] = [
    ...(before === undefined
      ? []
      : [{ id: 'since', label: `Since call ${before.ordinal}`, changed: false }]),
    { id: 'in', label: 'As it came in', changed: false },
    ...middlewareOf(call).map((name, index) => ({
      id: String(index),
      label: name,
      changed: path[index + 1]?.changed === true,
    })),
    { id: 'core', label: coreLabel(call), changed: false },
  ]
  const wish = state.step ?? (place === undefined || place === innermost ? 'core' : String(place))
  const step = steps.find(({ id }) => id === wish) ?? steps.at(-1)!
  const { query } = state

  const parts: Node[] = [stepButtons(steps, step, onStep)]
  if (attempts.length > 1) {
    const picker = h(
      'div',
      { class: 'attempts', role: 'group', 'aria-label': 'Attempt' },
      h('span', {}, 'Attempt'),
    )
    for (const [index, { out }] of attempts.entries()) {
      const words = `${index + 1}${out?.exit === undefined ? '' : ` (${out.error ?? out.exit})`}`
      picker.append(
        button(words, () => onAttempt(index), {
          'aria-pressed': String(attempts[index] === chosen),
        }),
      )
    }
    parts.push(picker)
  }
  if (step.id === 'since')
    parts.push(...changesView(nameOfCall(before!), before!.passes.at(-1), path[0], call, query))
  else if (step.id === 'in') parts.push(...wholeRequest(path[0]?.request, call, query))
  else if (step.id === 'core') {
    if (path[innermost] === undefined)
      parts.push(
        h(
          'p',
          { class: 'empty' },
          isTool
            ? 'The tool did not run: a middleware answered or stopped the call.'
            : 'No provider was called: a middleware answered or stopped the call.',
        ),
      )
    else parts.push(...wholeRequest(path[innermost].request, call, query))
  } else {
    const at = Number(step.id)
    parts.push(...changesView(step.label, path[at], path[at + 1], call, query))
  }
  return parts
}

/** A request as one object, to copy. */
export function requestAsJson(call: CallPicture, attempt: number | undefined): string {
  const attempts = passesAt(call, innermostOf(call))
  const request = (attempts[attempt ?? attempts.length - 1] ?? call.passes.at(-1))?.request
  const messages = request?.messages.map((number) => {
    const { role, parts } = call.run.scope.messages.get(number) ?? {}
    return { role, parts }
  })
  const { instructions, options, args } = request ?? {}
  return JSON.stringify(
    call.level === 'function' ? { args } : { instructions, options, messages },
    null,
    2,
  )
}

/** Passes from the outermost probe to this one, as far in as the call came. */
function pathTo(call: CallPicture, inner: PassPicture | undefined): PassPicture[] {
  const search = (pass: PassPicture): PassPicture[] | undefined => {
    if (pass === inner || (inner === undefined && pass.inside.length === 0)) return [pass]
    for (const inside of pass.inside.toReversed()) {
      const found = search(inside)
      if (found !== undefined) return [pass, ...found]
    }
    return undefined
  }
  for (const pass of call.passes.toReversed()) {
    const found = search(pass)
    if (found !== undefined) return found
  }
  return []
}

/** The model call before this one, whose request differs from this one by what the run has done since. */
function previousCall({ run, line, seq }: CallPicture): CallPicture | undefined {
  return line.type === 'model'
    ? run.calls.findLast((other) => other.line.type === 'model' && other.seq < seq)
    : undefined
}

function stepButtons(
  steps: readonly Step[],
  current: Step,
  onStep: (step: string) => void,
): HTMLElement {
  return h(
    'ol',
    { class: 'steps', 'aria-label': 'Way of the request' },
    ...steps.map((step) =>
      h(
        'li',
        {},
        button(step.label, () => onStep(step.id), {
          'aria-pressed': String(step === current),
          class: step.changed ? 'step changed' : 'step',
          title: step.changed ? `${step.label} changed the request` : undefined,
        }),
      ),
    ),
  )
}

function coreLabel(call: CallPicture): string {
  if (call.level === 'agent') return 'The loop'
  return call.level === 'chat' ? 'The provider saw' : 'The tool got'
}

function wholeRequest(request: Request | undefined, call: CallPicture, query: string): Node[] {
  if (request === undefined)
    return [h('p', { class: 'empty' }, 'The recording does not hold the request.')]
  const { instructions, messages, options, args } = request
  if (call.level === 'function')
    return [
      h('h3', {}, 'Arguments'),
      args === undefined ? h('p', { class: 'empty' }, 'None.') : textView(pretty(args), query),
    ]
  const { scope } = call.run
  return [
    ...(instructions === undefined
      ? []
      : [h('h3', {}, 'Instructions'), textView(instructions, query)]),
    h('h3', {}, count(messages.length, 'message')),
    ...messages.map((number) => messageView(scope.messages.get(number), query)),
    ...optionsView(options, call, query),
  ]
}

function optionsView(options: Request['options'], call: CallPicture, query: string): Node[] {
  const { tools = [], ...rest } = options as { tools?: readonly string[] }
  const nodes: Node[] = []
  if (tools.length > 0) {
    nodes.push(h('h3', {}, count(tools.length, 'tool')))
    for (const name of tools) {
      const { description, parameters } = call.run.scope.tools.get(name) ?? {}
      nodes.push(
        parameters === undefined
          ? h('p', { class: 'tool-name' }, name)
          : h(
              'details',
              { class: 'tool' },
              h(
                'summary',
                {},
                h('b', {}, name),
                description === undefined ? '' : ` ${description}`,
              ),
              textView({ text: JSON.stringify(parameters, null, 2) }, query),
            ),
      )
    }
  }
  const entries = Object.entries(rest)
  if (entries.length > 0) {
    nodes.push(
      h('h3', {}, 'Options'),
      h(
        'dl',
        { class: 'options' },
        ...entries.flatMap(([key, value]) => [
          h('dt', {}, key),
          h('dd', {}, typeof value === 'string' ? value : JSON.stringify(value)),
        ]),
      ),
    )
  }
  return nodes
}

function changesView(
  name: string,
  before: PassPicture | undefined,
  after: PassPicture | undefined,
  call: CallPicture,
  query: string,
): Node[] {
  if (before === undefined) return [h('p', { class: 'empty' }, `The call did not get to ${name}.`)]
  if (after === undefined)
    return [
      h(
        'p',
        { class: 'empty' },
        `${name} did not call its inside: nothing further in saw the request.`,
      ),
    ]
  const [from, to] = [before.request, after.request]
  if (from === to) return [h('p', { class: 'empty' }, `${name} passed the request on as it was.`)]
  const nodes: Node[] = []
  if (from.args !== to.args)
    nodes.push(
      h('h3', {}, 'Arguments'),
      textChange(from.args?.text, to.args?.text, from.args?.len, to.args?.len, query),
    )
  if (from.instructions !== to.instructions)
    nodes.push(
      h('h3', {}, 'Instructions'),
      textChange(
        from.instructions?.text,
        to.instructions?.text,
        from.instructions?.len,
        to.instructions?.len,
        query,
      ),
    )
  if (from.messages !== to.messages)
    nodes.push(...messageChanges(from.messages, to.messages, call, query))
  if (from.options !== to.options)
    nodes.push(h('h3', {}, 'Options'), diffView(lines(from.options), lines(to.options), query))
  return nodes
}

function messageChanges(
  from: readonly number[],
  to: readonly number[],
  call: CallPicture,
  query: string,
): Node[] {
  const { messages } = call.run.scope
  const nodes: Node[] = [h('h3', {}, 'Messages')]
  const parts = diff(from, to)
  for (let at = 0; at < parts.length; at++) {
    const { kind, items } = parts[at]!
    if (kind === 'same') {
      nodes.push(
        h(
          'details',
          { class: 'same' },
          h('summary', {}, `${count(items.length, 'message')} unchanged`),
          ...items.map((number) => messageView(messages.get(number), query)),
        ),
      )
      continue
    }
    const next = parts[at + 1]
    if (kind === 'removed' && next?.kind === 'added' && next.items.length === items.length) {
      for (const [index, number] of items.entries())
        nodes.push(changedMessage(number, next.items[index]!, call, query))
      at++
      continue
    }
    for (const number of items) nodes.push(messageView(messages.get(number), query, kind))
  }
  return nodes
}

function changedMessage(from: number, to: number, call: CallPicture, query: string): HTMLElement {
  const { messages } = call.run.scope
  const [before, after] = [messages.get(from), messages.get(to)]
  const [old, young] = [textOfMessage(before), textOfMessage(after)]
  if (old === undefined || young === undefined || before?.role !== after?.role)
    return h(
      'div',
      { class: 'pair' },
      messageView(before, query, 'removed'),
      messageView(after, query, 'added'),
    )
  return h(
    'article',
    { class: `message ${after?.role ?? ''} changed` },
    h(
      'header',
      {},
      h('span', { class: 'role' }, after?.role ?? ''),
      h('span', { class: 'note' }, 'changed'),
      h('span', { class: 'number' }, `#${from} → #${to}`),
    ),
    diffView(old, young, query),
  )
}

function textChange(
  before: string | undefined,
  after: string | undefined,
  beforeLen: number | undefined,
  afterLen: number | undefined,
  query: string,
): HTMLElement {
  if (
    (before === undefined && beforeLen !== undefined) ||
    (after === undefined && afterLen !== undefined)
  )
    return h(
      'p',
      { class: 'facts' },
      `${count(beforeLen ?? 0, 'character')} before, ${count(afterLen ?? 0, 'character')} after`,
    )
  return diffView(before ?? '', after ?? '', query)
}

function lines(options: Request['options']): string {
  return Object.entries(options)
    .map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
    .join('')
}
