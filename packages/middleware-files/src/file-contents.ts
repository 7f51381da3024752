import type { Content, DataContent, UriContent } from '@lamella/core'
import ipaddr from 'ipaddr.js'
import { isInternalHost, plainUrl } from '@lamella/text'
import { unlessAborted } from '@lamella/core/authoring'
import { fileTypeFromBuffer } from 'file-type'
import { imageSize } from 'image-size'

/** Reason for refusing a file. */
export type FileViolation =
  | 'media-type'
  | 'mismatch'
  | 'active-content'
  | 'too-large'
  | 'too-many'
  | 'total-too-large'
  | 'not-base64'
  | 'uri'
  | 'name'
  | 'too-many-pixels'
  | 'scan'
  | 'unreadable'

/** File content of a message. */
export type FileContent = DataContent | UriContent

/** Rules for files. */
export interface FileRules {
  readonly allow: readonly string[]
  readonly deny: readonly string[]
  readonly sniff: boolean
  readonly maxBytes: number
  readonly maxFiles: number
  readonly maxTotalBytes: number
  readonly maxPixels: number
  readonly maxNameChars: number
  readonly schemes: readonly string[]
  readonly hosts: readonly string[] | undefined
  readonly scan:
    | ((file: DataContent, signal: AbortSignal) => boolean | Promise<boolean>)
    | undefined
}

/** Number and size of the files in one list of messages. */
export interface FileCount {
  files: number
  bytes: number
}

export function isFile(content: Content): content is FileContent {
  return content.type === 'data' || content.type === 'uri'
}

/** Counts one file and checks it against the rules. */
export async function fileViolation(
  content: FileContent,
  rules: FileRules,
  count: FileCount,
  signal: AbortSignal,
): Promise<FileViolation | undefined> {
  if (++count.files > rules.maxFiles) return 'too-many'
  if (content.name !== undefined && !isName(content.name, rules.maxNameChars)) return 'name'
  if (content.type === 'uri') return uriViolation(content, rules, count)

  const size = sizeOf(content.data)
  if (size === undefined) return 'not-base64'
  if (size > rules.maxBytes) return 'too-large'
  if ((count.bytes += size) > rules.maxTotalBytes) return 'total-too-large'
  const declared = baseType(content.mediaType)
  if (!isAllowed(declared, rules)) return 'media-type'
  const bytes = bytesOf(content.data)
  if (bytes === undefined) return 'not-base64'
  if (rules.sniff) {
    const problem = await sniff(bytes, declared, rules)
    if (problem !== undefined) return problem
  }
  if (declared.startsWith('image/') && pixelsOf(bytes) > rules.maxPixels) return 'too-many-pixels'
  if (rules.scan === undefined) return undefined
  const isClean = await unlessAborted(signal, Promise.resolve(rules.scan(content, signal)))
  return isClean ? undefined : 'scan'
}

/** Checks a linked file by its address. It is not fetched. */
function uriViolation(
  { uri, mediaType }: UriContent,
  rules: FileRules,
  count: FileCount,
): FileViolation | undefined {
  if (uri.startsWith('data:')) {
    const size = Math.floor((uri.length - uri.indexOf(',') - 1) * 0.75)
    if (size > rules.maxBytes) return 'too-large'
    if ((count.bytes += size) > rules.maxTotalBytes) return 'total-too-large'
    // The bytes of a `data:` address are not sniffed.
    return rules.schemes.includes('data:') ? undefined : 'uri'
  }
  const url = plainUrl(uri)
  if (url === undefined || !rules.schemes.includes(url.protocol)) return 'uri'
  const host = url.hostname.replace(/\.$/, '')
  const isListed = rules.hosts?.includes(host) ?? false
  if (!isListed && isInternalHost(host, ipaddr)) return 'uri'
  if (rules.hosts !== undefined && !isHost(host, rules.hosts)) return 'uri'
  if (mediaType !== undefined && !isAllowed(baseType(mediaType), rules)) return 'media-type'
  return undefined
}

/** Compares the type that the bytes show with the declared type. */
async function sniff(
  bytes: Uint8Array,
  declared: string,
  rules: FileRules,
): Promise<FileViolation | undefined> {
  const found = await fileTypeFromBuffer(bytes)
  if (found === undefined) {
    // The bytes have no signature. Markup and scripts have none.
    if (!isTextual(declared)) return 'mismatch'
    if (bytes.subarray(0, 4096).includes(0)) return 'mismatch'
    const isMarkup = /^(?:text\/html|image\/svg\+xml|application\/xhtml\+xml)$/.test(declared)
    return !isMarkup && looksActive(bytes) ? 'active-content' : undefined
  }
  const actual = baseType(found.mime)
  if (sameKind(actual, declared)) return undefined
  return isAllowed(actual, rules) || !isTextual(declared) ? 'mismatch' : 'active-content'
}

/** Returns width by height of an image from its header; 0 if the header does not say it. */
function pixelsOf(bytes: Uint8Array): number {
  try {
    const { width, height } = imageSize(bytes)
    return width * height
  } catch {
    return 0
  }
}

/** Returns true for HTML or SVG under another type. */
function looksActive(bytes: Uint8Array): boolean {
  const start = new TextDecoder().decode(bytes.subarray(0, 1024)).trimStart().toLowerCase()
  return /^(?:<!doctype html|<html|<svg|<script|<\?xml[^>]{0,200}>\s{0,100}<(?:svg|html))/.test(
    start,
  )
}

function sameKind(actual: string, declared: string): boolean {
  if (actual === declared) return true
  return aliases.some((kinds) => kinds.includes(actual) && kinds.includes(declared))
}

const aliases: readonly (readonly string[])[] = [
  ['image/jpeg', 'image/jpg', 'image/pjpeg'],
  ['image/png', 'image/apng', 'image/vnd.mozilla.apng'],
  ['audio/mpeg', 'audio/mp3'],
  ['audio/wav', 'audio/x-wav', 'audio/vnd.wave', 'audio/wave'],
  ['audio/mp4', 'audio/x-m4a', 'video/mp4'],
  ['audio/ogg', 'application/ogg', 'video/ogg'],
  ['application/xml', 'text/xml', 'image/svg+xml'],
]

function isTextual(type: string): boolean {
  return (
    type.startsWith('text/') ||
    /^application\/(?:json|xml|yaml|.*\+(?:json|xml))$|^image\/svg\+xml$/.test(type)
  )
}

function isAllowed(type: string, { allow, deny }: FileRules): boolean {
  return !deny.some((glob) => fits(type, glob)) && allow.some((glob) => fits(type, glob))
}

/** Matches a media type: `image/*` matches every image, `*` everything. */
function fits(type: string, glob: string): boolean {
  if (glob === '*' || glob === '*/*') return true
  return glob.endsWith('/*') ? type.startsWith(glob.slice(0, -1)) : type === glob
}

function baseType(mediaType: string): string {
  return mediaType.split(';', 1)[0]!.trim().toLowerCase()
}

function sizeOf(data: string | Uint8Array): number | undefined {
  if (typeof data !== 'string') return data.byteLength
  if (!/^[A-Za-z0-9+/_-]*={0,2}$/.test(data)) return undefined
  const padding = data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0
  return Math.floor((data.length * 3) / 4) - padding
}

function bytesOf(data: string | Uint8Array): Uint8Array | undefined {
  if (typeof data !== 'string') return data
  try {
    const binary = atob(data.replaceAll('-', '+').replaceAll('_', '/'))
    return Uint8Array.from(binary, (character) => character.charCodeAt(0))
  } catch {
    return undefined
  }
}

/** Returns true for a plain file name: no folder, no characters that hide or reverse text. */
function isName(name: string, maxChars: number): boolean {
  return (
    name.length <= maxChars &&
    !/[/\\\p{Cc}\u200b-\u200f\u202a-\u202e\u2066-\u2069\ufeff]/u.test(name) &&
    !/^\.{1,2}$/.test(name)
  )
}

function isHost(host: string, allowed: readonly string[]): boolean {
  return allowed.some((entry) =>
    entry.startsWith('*.') ? host.endsWith(entry.slice(1)) : host === entry,
  )
}
