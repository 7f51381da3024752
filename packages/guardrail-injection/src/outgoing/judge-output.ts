import type { GuardrailSubject, Verdict } from '@lamella/guardrail'
import { pendingCanary } from './canary.ts'
import { findImages } from './find-images.ts'

/** Options for images and tags in answers that make a browser fetch something. */
export interface ExfiltrationOptions {
  /**
   * Hosts whose images stay: `example.com` includes `cdn.example.com`.
   * @default none
   */
  readonly allowHosts?: readonly string[] | undefined
  /**
   * Text that replaces an image of another host, without brackets.
   * @default '(image removed)'
   */
  readonly replacement?: string | undefined
}

/**
 * Judges answers for leaked instructions, and for images and tags that a browser would fetch. A
 * browser fetches an image without asking, and its address may carry data.
 */
export function judgeOutput(
  {
    text,
    before = '',
    whole = before + text,
    final,
  }: Pick<GuardrailSubject, 'text' | 'before' | 'whole' | 'final'>,
  canary: string | undefined,
  exfiltration: ExfiltrationOptions | false,
): Verdict {
  if (canary !== undefined && text.toLowerCase().includes(canary)) {
    return { action: 'block', category: 'leak', severity: 1 }
  }
  if (!exfiltration) return { action: 'allow' }
  const { allowHosts = [], replacement = defaultReplacement } = exfiltration
  const { images, openTag } = findImages(whole)
  if (images.length === 0 && openTag === whole.length) return { action: 'allow' }
  // A tag that is not closed includes the text after the answer in the page.
  const rest = final && openTag < whole.length ? [{ start: openTag, end: whole.length }] : []
  const foreign = images.filter(
    ({ addresses }) => addresses?.some((each) => isForeign(each, allowHosts)) ?? true,
  )
  const spans = [...foreign, ...rest]
    .map(({ start, end }) => ({ start: start - before.length, end: end - before.length }))
    .filter(({ start }) => start >= 0)
  if (spans.length === 0) return { action: 'allow' }
  return { action: 'replace', category: 'exfiltration', severity: 0.6, replacement, spans }
}

/** Returns the index from which more text may change the verdict. */
export function pendingOutput(text: string): number {
  return Math.min(pendingCanary(text), findImages(text).pending)
}

// Without brackets, which could form an image together with adjacent text.
const defaultReplacement = '(image removed)'

const here = 'here.invalid'

function isForeign(address: string, allowHosts: readonly string[]): boolean {
  const trimmed = address.trim()
  const bare = trimmed.startsWith('<') ? trimmed.slice(1).split('>', 1)[0]! : trimmed
  // Markdown and HTML decode these; where the address leads then is not worth following.
  const [scheme, , authority] = bare.split(/[/?#]/, 3)
  if (/[&\\]/.test(`${scheme}${authority}`)) return true
  const first = bare.split(/[\s,]/, 1)[0]!
  // `https:x` is a path on a page of the same scheme, and a host on all others.
  return ['http', 'https'].some((own) => isElsewhere(first, `${own}://${here}`, allowHosts))
}

function isElsewhere(address: string, page: string, allowHosts: readonly string[]): boolean {
  const url = URL.parse(address, page)
  if (url === null) return true
  const { protocol, hostname } = url
  if (!['http:', 'https:', 'ftp:', 'ws:', 'wss:'].includes(protocol) || hostname === here)
    return false
  return !allowHosts.some((host) => hostname === host || hostname.endsWith(`.${host}`))
}
