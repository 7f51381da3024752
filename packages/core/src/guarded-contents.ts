import type { Content } from './content.ts'
import { text } from './content.ts'
import type { Guard, GuardPlace } from './guard.ts'
import type { Finding } from './held-text.ts'
import { HeldText } from './held-text.ts'
import { pieceOf, textField, withPiece } from './text-piece.ts'
import type { GuardStage, GuardSubject } from './verdict.ts'

const knownTypes: readonly string[] = [
  'data',
  'uri',
  'approval-request',
  'approval-response',
  'error',
  'usage',
  'hosted',
] satisfies Content['type'][]

/** Everything in contents that is text, also in the results of calls, joined without separators. */
export function readableText(contents: readonly Content[]): string {
  return flat(contents).map(pieceOf).join('')
}

/** Whether it is a file, or something that nobody here knows. */
export function isOpaque(content: Content): boolean {
  return flat([content]).some((part) => isFile(part) || isUnknown(part))
}

/**
 * Has a guard check contents: what is readable in them, and their files. Returns them with what was
 * to be replaced, or as they were. `readable` is empty where it is checked elsewhere.
 */
export async function checkContents(
  guard: Guard,
  stages: readonly GuardStage[],
  contents: readonly Content[],
  about: Omit<GuardSubject, 'text' | 'final'>,
  place: GuardPlace,
  readable?: string,
): Promise<readonly Content[]> {
  let checked = contents
  if (stages.includes(about.stage)) {
    const said = readable ?? readableText(contents)
    const subject: GuardSubject = { ...about, contents, text: said, final: true }
    if (flat(contents).some(isUnknown)) {
      guard.conclude(guard.read({ action: 'unsupported' }, subject, place), subject, place)
    }
    const verdict = said === '' ? undefined : await guard.ask(subject, place)
    const findings = guard.conclude(verdict, subject, place)
    if (findings) checked = await edited(contents, findings)
  }
  if (!stages.includes('file')) return checked
  return mapParts(checked, async (file) => {
    if (!isFile(file)) return file
    const subject: GuardSubject = {
      ...about,
      stage: 'file',
      text: '',
      contents: [file],
      final: true,
    }
    const verdict = await guard.ask(subject, place)
    return guard.conclude(verdict, subject, place) ? text(verdict?.replacement ?? '') : file
  })
}

/** Applies findings in the readable text to the contents that it comes from. */
function edited(
  contents: readonly Content[],
  findings: readonly Finding[],
): Promise<readonly Content[]> {
  const held = new HeldText('text', undefined, { release: 'full' })
  held.append(readableText(contents))
  held.closed = true
  held.due(1)
  held.apply(findings)
  let end = 0
  return mapParts(contents, (part) => {
    if (!textField(part)) return part
    const piece = pieceOf(part)
    const start = end
    end += piece.length
    const rendered = held.render(piece, start, start, end)
    return rendered === piece ? part : withPiece(part, rendered, false)
  })
}

/** Replaces parts, also those in the results of calls. */
async function mapParts(
  contents: readonly Content[],
  replace: (part: Content) => Content | Promise<Content>,
): Promise<readonly Content[]> {
  const mapped: Content[] = []
  for (const part of contents) {
    if (part.type === 'function-result') {
      const inner = await mapParts(part.contents, replace)
      mapped.push(inner === part.contents ? part : { ...part, contents: inner })
    } else mapped.push(await replace(part))
  }
  return mapped.every((part, at) => part === contents[at]) ? contents : mapped
}

function flat(contents: readonly Content[]): readonly Content[] {
  if (!contents.some(({ type }) => type === 'function-result')) return contents
  return contents.flatMap((part) => (part.type === 'function-result' ? flat(part.contents) : part))
}

function isUnknown(part: Content): boolean {
  return !textField(part) && !knownTypes.includes(part.type)
}

function isFile({ type }: Content): boolean {
  return type === 'data' || type === 'uri'
}
