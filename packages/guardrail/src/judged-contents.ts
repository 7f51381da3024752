import { isThenable, pieceOf, withPiece } from '@lamella/core/authoring'
import type { Content } from '@lamella/core'
import { text } from '@lamella/core'
import type { AppliedEdit } from './applied-edit.ts'
import { edited, insert } from './applied-edit.ts'
import type { Guardrail, GuardrailPlace } from './guardrail-check.ts'
import type { TextReading } from './text-reading.ts'
import { readingsOf } from './text-reading.ts'
import type { GuardrailStage, GuardrailSubject, TextEdit } from './verdict.ts'

const knownTypes: readonly string[] = [
  'function-result',
  'data',
  'uri',
  'approval-request',
  'approval-response',
  'error',
  'usage',
  'hosted',
] satisfies Content['type'][]

/**
 * Joins all text of contents without separators, results of tool calls included. Arguments of tool calls are
 * judged separately.
 */
export function readableText(contents: readonly Content[]): string {
  return flat(contents).map(readable).join('')
}

/** Returns true for a file, or a content of unknown type. */
export function isOpaque(content: Content): boolean {
  if (hasText(content)) return false
  return flat([content]).some((part) => isFile(part) || isUnknown(part))
}

/** Subject of a check without its text. */
export type CheckedSubject = Omit<GuardrailSubject, 'text' | 'final'>

/**
 * Checks contents: their text, names, addresses, reasons and files. Returns them edited, or unchanged.
 * `readable` is empty if the text is checked elsewhere; `before` is the text that a reader sees directly
 * before them.
 */
export async function checkContents(
  guardrail: Guardrail,
  stages: readonly GuardrailStage[],
  contents: readonly Content[],
  about: CheckedSubject,
  place: GuardrailPlace,
  { readable, before = '' }: { readonly readable?: string; readonly before?: string } = {},
): Promise<readonly Content[]> {
  let checked = contents
  if (stages.includes(about.stage)) {
    const said = readable ?? readableText(contents)
    const whole: CheckedSubject = { ...about, contents }
    const parts = flat(contents)
    if (parts.some(isUnknown)) {
      const subject = { stage: about.stage, text: said }
      guardrail.conclude(guardrail.read({ action: 'unsupported' }, subject, place), subject, place)
    }
    const edits = await editsOf(guardrail, said, whole, place, before)
    if (edits.length > 0) checked = await withEdits(contents, edits)
    if (parts.some(hasLabel)) {
      checked = await mapParts(checked, (part) => checkLabels(guardrail, part, about, place))
    }
  }
  if (!stages.includes('file') || !flat(checked).some(isFile)) return checked
  return mapParts(checked, async (file) => {
    if (!isFile(file)) return file
    const subject: GuardrailSubject = {
      ...about,
      stage: 'file',
      text: '',
      contents: [file],
      final: true,
    }
    const verdict = await guardrail.ask(subject, place)
    return guardrail.conclude(verdict, subject, place) ? text(verdict?.replacement ?? '') : file
  })
}

/** Checks a single text and returns it edited. */
export async function checkText(
  guardrail: Guardrail,
  said: string,
  about: CheckedSubject,
  place: GuardrailPlace,
): Promise<string> {
  const edits = await editsOf(guardrail, said, about, place, '')
  return edited(said, 0, 0, said.length, edits)
}

/** Checks each reading of a text. Throws to block it, or returns its edits. */
async function editsOf(
  guardrail: Guardrail,
  said: string,
  about: CheckedSubject,
  place: GuardrailPlace,
  before: string,
): Promise<readonly AppliedEdit[]> {
  const edits: AppliedEdit[] = []
  if (said === '') return edits
  const flagged: (string | undefined)[] = []
  const isRaw = guardrail.readAs === 'raw'
  let readings: readonly TextReading[] = isRaw
    ? [{ text: said, toOriginal: (edit) => [edit] }]
    : readingsOf(said, about.contents)
  if (!isRaw && before !== '') readings = [...readings, jointOf(before, said)]
  for (const reading of readings) {
    const { text: read, toOriginal } = reading
    const subject: GuardrailSubject = { ...about, text: read, final: true }
    const given = guardrail.ask(subject, place)
    // oxlint-disable-next-line no-await-in-loop -- a block ends the loop
    const verdict = isThenable(given) ? await given : given
    if (verdict === undefined) continue
    const { action, category, spans, replacement = '' } = verdict
    const isWhole = !spans?.length
    const found = isWhole
      ? [{ start: 0, end: said.length, replacement }]
      : guardrail.edits(verdict, read).flatMap(toOriginal)
    const isKnown =
      action === 'allow' ||
      (action === 'flag' && flagged.includes(category)) ||
      (action === 'replace' && found.every((edit) => edits.some((other) => covers(other, edit))))
    if (reading !== readings[0] && isKnown) continue
    if (action === 'flag') flagged.push(category)
    if (guardrail.conclude(verdict, subject, place) === undefined) continue
    for (const { start, end, replacement: made = '' } of found) {
      insert(edits, { start, end, replacement: made })
    }
  }
  return edits
}

const covers = (other: AppliedEdit, edit: TextEdit): boolean =>
  other.start <= edit.start && edit.end <= other.end

const readable = (part: Content): string => (part.type === 'function-call' ? '' : pieceOf(part))

/** Reads a text directly behind another. Only matches across the joint become edits. */
function jointOf(before: string, said: string): TextReading {
  return {
    text: before + said.slice(0, mostBehindJoint),
    toOriginal: ({ start, end, ...edit }) =>
      start < before.length && end > before.length
        ? [{ ...edit, start: 0, end: end - before.length }]
        : [],
  }
}

const mostBehindJoint = 512

/** Applies edits of the joined text to its contents. */
function withEdits(
  contents: readonly Content[],
  edits: readonly AppliedEdit[],
): Promise<readonly Content[]> {
  let end = 0
  return mapParts(contents, (part) => {
    const piece = readable(part)
    const start = end
    end += piece.length
    const made = edited(piece, start, start, end, edits)
    return made === piece ? part : withPiece(part, made, false)
  })
}

/** Fields of contents that are checked like text. */
const labels = ['name', 'uri', 'reason', 'message'] as const
type Labels = Partial<Record<(typeof labels)[number], unknown>>
const labelled: readonly string[] = [
  'function-call',
  'data',
  'uri',
  'approval-request',
  'approval-response',
  'error',
] satisfies Content['type'][]

function hasLabel(part: Content): boolean {
  if (part.type === 'function-result') return part.error !== undefined
  return labelled.includes(part.type)
}

async function checkLabels(
  guardrail: Guardrail,
  part: Content,
  about: CheckedSubject,
  place: GuardrailPlace,
): Promise<Content> {
  if (part.type === 'function-result') {
    const { error } = part
    if (error === undefined) return part
    const words = await checkText(guardrail, error.message, about, place)
    return words === error.message ? part : { ...part, error: { ...error, message: words } }
  }
  if (part.type === 'function-call') {
    const json = await checkText(guardrail, part.arguments, about, place)
    return json === part.arguments ? part : withPiece(part, json, false)
  }
  if (!labelled.includes(part.type)) return part
  let checked = part
  for (const label of labels) {
    const words = (part as Labels)[label]
    if (typeof words !== 'string') continue
    // oxlint-disable-next-line no-await-in-loop -- a block ends the loop
    const safe = await checkText(guardrail, words, about, place)
    if (safe !== words) checked = { ...checked, [label]: safe }
  }
  return checked
}

/** Maps contents, results of tool calls included. */
async function mapParts(
  contents: readonly Content[],
  replace: (part: Content) => Content | Promise<Content>,
): Promise<readonly Content[]> {
  const mapped: Content[] = []
  for (const part of contents) {
    if (part.type === 'function-result') {
      const inner = await mapParts(part.contents, replace)
      const made = inner === part.contents ? part : { ...part, contents: inner }
      mapped.push(await replace(made))
    } else mapped.push(await replace(part))
  }
  return mapped.every((part, at) => part === contents[at]) ? contents : mapped
}

function flat(contents: readonly Content[]): readonly Content[] {
  if (!contents.some(({ type }) => type === 'function-result')) return contents
  return contents.flatMap((part) =>
    part.type === 'function-result' ? [part, ...flat(part.contents)] : part,
  )
}

function isUnknown(part: Content): boolean {
  return !hasText(part) && !knownTypes.includes(part.type)
}

function isFile({ type }: Content): boolean {
  return type === 'data' || type === 'uri'
}

function hasText({ type }: Content): boolean {
  return ['text', 'reasoning', 'refusal', 'function-call'].includes(type)
}
