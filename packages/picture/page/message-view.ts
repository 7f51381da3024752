import type { MessageLine, PartFacts, TextFacts } from '../src/lines/line.ts'
import type { DiffPart } from '../src/reading/diff.ts'
import { diffLines, diffWords } from '../src/reading/diff.ts'
import { count, grouped } from '../src/reading/words.ts'
import { h, marked } from './dom.ts'

const longText = 1500

/** A text, or how long it was. */
export function textView({ text, len, cut }: TextFacts, query: string): HTMLElement {
  if (text === undefined)
    return h('p', { class: 'facts' }, len === undefined ? 'no text' : count(len, 'character'))
  const pre = h(
    'pre',
    { class: 'text', tabindex: text.length > longText ? 0 : undefined },
    marked(text, query),
  )
  if (text.length > longText) pre.classList.add('long')
  return cut === true
    ? h(
        'div',
        {},
        pre,
        h('p', { class: 'facts' }, `cut off; ${grouped(len ?? 0)} characters in all`),
      )
    : pre
}

/** One part of a message or a result. */
export function partView(part: PartFacts, query: string): HTMLElement {
  const { type, name, fn, error, mediaType, bytes, parts } = part
  const facts = [
    name,
    fn === undefined ? undefined : `#${fn}`,
    mediaType,
    bytes === undefined ? undefined : `${grouped(bytes)} bytes`,
    error === undefined ? undefined : `error: ${error}`,
  ].filter((fact) => fact !== undefined)
  const isPlain = type === 'text' && facts.length === 0
  const hasText = part.text !== undefined || part.len !== undefined
  return h(
    'div',
    { class: `part ${type}` },
    !isPlain &&
      h(
        'p',
        { class: 'part-head' },
        h('span', { class: 'type' }, wordsOfType(type)),
        facts.length > 0 && marked(` ${facts.join(' · ')}`, query),
      ),
    hasText && textView(type === 'function-call' ? pretty(part) : part, query),
    ...(parts ?? []).map((inner) => partView(inner, query)),
  )
}

/** A message with its role. `note` says what became of it. */
export function messageView(
  message: MessageLine | undefined,
  query: string,
  note?: string,
): HTMLElement {
  if (message === undefined)
    return h(
      'article',
      { class: 'message' },
      h('p', { class: 'facts' }, 'a message that is not in the recording'),
    )
  const { role, parts, m } = message
  return h(
    'article',
    { class: `message ${role}${note === undefined ? '' : ` ${note}`}` },
    h(
      'header',
      {},
      h('span', { class: 'role' }, role),
      note !== undefined && h('span', { class: 'note' }, note),
      h('span', { class: 'number' }, `#${m}`),
    ),
    ...parts.map((part) => partView(part, query)),
  )
}

/** Differences of two texts: word by word, or line by line where they are long. */
export function diffView(before: string, after: string, query: string): HTMLElement {
  return h(
    'pre',
    { class: 'diff text', tabindex: 0, 'aria-label': 'Differences' },
    ...(before.length + after.length > 20_000 ? diffLines : diffWords)(before, after).map((part) =>
      stretch(part, query),
    ),
  )
}

/** All texts of a message. */
export function textOfMessage(message: MessageLine | undefined): string | undefined {
  const texts = message?.parts.flatMap(textsOf)
  return texts === undefined || texts.includes(undefined) ? undefined : texts.join('\n')
}

function textsOf({ type, text, name, len, parts }: PartFacts): (string | undefined)[] {
  if (text === undefined && len !== undefined && len > 0) return [undefined]
  const own = type === 'text' ? (text ?? '') : [type, name, text].filter(Boolean).join(' ')
  return [own, ...(parts ?? []).flatMap(textsOf)]
}

function stretch({ kind, items }: DiffPart<string>, query: string): HTMLElement {
  const text = items.join('')
  if (kind === 'same') return h('span', {}, marked(text, query))
  const tag = kind === 'added' ? 'ins' : 'del'
  return h(tag, {}, marked(text, query))
}

function wordsOfType(type: string): string {
  return type.replaceAll('-', ' ')
}

/** Arguments that are JSON, with line breaks. */
export function pretty(part: TextFacts): TextFacts {
  if (part.text === undefined || part.cut === true) return part
  try {
    return { ...part, text: JSON.stringify(JSON.parse(part.text), null, 2) }
  } catch {
    return part
  }
}
