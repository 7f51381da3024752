import type { GuardSubject, Verdict } from '@lamella/core'
import { pendingCanary } from './canary.ts'
import { findImages } from './find-images.ts'

export interface ExfiltrationOptions {
  /**
   * Hosts whose images stay: `example.com` stands for `cdn.example.com` too.
   * @default none
   */
  readonly allowHosts?: readonly string[] | undefined
  /** What takes the place of an image from elsewhere. @default '[image removed]' */
  readonly replacement?: string | undefined
}

/**
 * Judges what a model says: whether its instructions leak, and which images it shows. A browser fetches
 * an image without asking, and with it whatever the model was talked into writing into its address.
 */
export function judgeOutput(
  { text, before = '' }: Pick<GuardSubject, 'text' | 'before'>,
  canary: string | undefined,
  exfiltration: ExfiltrationOptions | false,
): Verdict {
  if (canary !== undefined && text.toLowerCase().includes(canary)) {
    return { action: 'block', category: 'leak', severity: 1 }
  }
  if (!exfiltration) return { action: 'allow' }
  const { allowHosts = [], replacement = '[image removed]' } = exfiltration
  const spans = findImages(before + text)
    .images.filter(
      ({ addresses }) => addresses?.some((each) => isForeign(each, allowHosts)) ?? true,
    )
    .map(({ start, end }) => ({ start: start - before.length, end: end - before.length }))
    .filter(({ start }) => start >= 0)
  if (spans.length === 0) return { action: 'allow' }
  return { action: 'replace', category: 'exfiltration', severity: 0.6, replacement, spans }
}

/** The index from which on a text may still become something that is judged. */
export function pendingOutput(text: string): number {
  return Math.min(pendingCanary(text), findImages(text).pending)
}

const here = 'here.invalid'

function isForeign(address: string, allowHosts: readonly string[]): boolean {
  const trimmed = address.trim()
  const bare = trimmed.startsWith('<') ? trimmed.slice(1).split('>', 1)[0]! : trimmed
  // Markdown and HTML decode these; where the address leads then is not worth following.
  const [scheme, , authority] = bare.split(/[/?#]/, 3)
  if (/[&\\]/.test(`${scheme}${authority}`)) return true
  try {
    const { protocol, hostname } = new URL(bare.split(/[\s,]/, 1)[0]!, `https://${here}`)
    if (!['http:', 'https:', 'ftp:'].includes(protocol) || hostname === here) return false
    return !allowHosts.some((host) => hostname === host || hostname.endsWith(`.${host}`))
  } catch {
    return true
  }
}
