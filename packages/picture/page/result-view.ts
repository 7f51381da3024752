import { lanesOf } from '../src/reading/lanes.ts'
import type { CallPicture, PassPicture } from '../src/reading/run-picture.ts'
import { exitOfCall, innermostOf, middlewareOf, passesAt } from '../src/reading/run-picture.ts'
import { spentBy } from '../src/reading/onion.ts'
import { count, exitWords, money, tokens } from '../src/reading/words.ts'
import { h } from './dom.ts'
import { diffView, messageView, partView, textView } from './message-view.ts'

/** Shows the result of a call, and the changes that each middleware made to it. */
export function resultView(call: CallPicture, query: string): Node[] {
  const exit = exitOfCall(call)
  const { usage, cost } = spentBy(call)
  const last = call.passes.at(-1)
  const facts = [
    exitWords[exit] ?? exit,
    last === undefined ? '' : finishOf(last),
    usage === undefined ? '' : tokens(usage),
    cost === undefined ? '' : money(cost),
  ]
  const nodes: Node[] = [h('p', { class: `outcome ${exit}` }, facts.filter(Boolean).join(' · '))]
  nodes.push(...failures(call, query))
  const { result } = last ?? {}
  if (result?.parts !== undefined) {
    nodes.push(
      h('h3', {}, 'Result'),
      h('article', { class: 'message tool' }, ...result.parts.map((part) => partView(part, query))),
    )
    nodes.push(...resultChanges(call, query))
  }
  if (result?.messages !== undefined) {
    nodes.push(h('h3', {}, exit === 'ok' ? 'Answer' : 'Answer so far'))
    nodes.push(
      ...result.messages.map((number) => messageView(call.run.scope.messages.get(number), query)),
    )
  }
  if (call.level !== 'function') nodes.push(...answerChanges(call, query))
  return nodes
}

function finishOf(pass: PassPicture): string {
  const finish = pass.out?.finish ?? pass.inside.at(-1)?.out?.finish
  const inner = pass.inside.at(-1)
  return finish ?? (inner === undefined ? '' : finishOf(inner))
}

function failures(call: CallPicture, query: string): Node[] {
  const attempts = passesAt(call, innermostOf(call)).filter(({ out }) => out?.error !== undefined)
  if (attempts.length === 0) return []
  return [
    h('h3', {}, count(attempts.length, 'failed attempt')),
    ...attempts.map(({ n, out }) => {
      const { error, status, retryable, message } = out!
      const words = [
        error,
        status === undefined ? '' : `HTTP ${status}`,
        retryable === undefined ? '' : retryable ? 'worth a retry' : 'not worth a retry',
      ]
      return h(
        'div',
        { class: 'failure' },
        h('p', {}, h('b', {}, `Attempt ${n}: `), words.filter(Boolean).join(' · ')),
        message !== undefined && textView(message, query),
      )
    }),
  ]
}

/** Shows how each middleware changed the text, from the inside out. */
function answerChanges(call: CallPicture, query: string): Node[] {
  const lanes = lanesOf(call)
  const nodes: Node[] = []
  for (const [place, name] of [...middlewareOf(call).entries()].toReversed()) {
    const [outside, inside] = [lanes[place], lanes[place + 1]]
    if (outside === undefined || inside === undefined) continue
    if (outside.text === inside.text && outside.len === inside.len) continue
    nodes.push(h('h3', {}, `What ${name} changed in the answer`))
    const isText = outside.text.length === outside.len && inside.text.length === inside.len
    nodes.push(
      isText
        ? diffView(inside.text, outside.text, query)
        : h(
            'p',
            { class: 'facts' },
            `${count(inside.len, 'character')} before, ${count(outside.len, 'character')} after`,
          ),
    )
  }
  return nodes
}

function resultChanges(call: CallPicture, query: string): Node[] {
  const nodes: Node[] = []
  for (const [place, name] of [...middlewareOf(call).entries()].toReversed()) {
    const pass = passesAt(call, place).at(-1)
    const before = pass?.inside.at(-1)?.result?.parts
    const after = pass?.result?.parts
    if (before === undefined || after === undefined || before === after) continue
    const [old, young] = [before, after].map((parts) =>
      parts.map(({ text, len }) => text ?? count(len ?? 0, 'character')).join('\n'),
    )
    nodes.push(h('h3', {}, `What ${name} changed in the result`), diffView(old!, young!, query))
  }
  return nodes
}
