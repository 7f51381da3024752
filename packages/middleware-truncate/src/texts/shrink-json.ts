import { truncateText } from './truncate-text.ts'

/**
 * Shortens a JSON text so that it stays JSON: long strings, lists and objects end with a note about
 * the removed part. Returns `undefined` if the text is not a JSON object or list, has numbers that
 * would change, or cannot be shortened that much.
 */
export function shrinkJson(text: string, maxChars: number): string | undefined {
  if (!/^\s*[[{]/.test(text) || longNumber.test(text)) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const compact = JSON.stringify(value)
  if (compact.length <= maxChars) return compact
  // Each attempt walks what it keeps; the first ones keep most.
  for (let entries = 256; entries >= 1; entries = Math.floor(entries * 0.75)) {
    for (const chars of [entries * 64, entries * 8]) {
      const shorter = JSON.stringify(shrink(value, { entries, chars: Math.max(chars, 16) }, 0))
      if (shorter.length <= maxChars) return shorter
    }
  }
  return undefined
}

/** One that JavaScript does not hold exactly, such as an id: written again it would be another. */
const longNumber = /[[:,\s]-?\d{16,}/

interface Room {
  /** Of a list or an object. */
  readonly entries: number
  /** Of a string. */
  readonly chars: number
}

/** Depth below which values are replaced by a word. */
const maxDepth = 12

function shrink(value: unknown, room: Room, depth: number): unknown {
  if (typeof value === 'string') {
    if (value.length <= room.chars) return value
    const marker = `… (${value.length} characters)`
    return truncateText(value, { maxChars: room.chars + marker.length, marker, strategy: 'head' })
  }
  if (typeof value !== 'object' || value === null) return value
  if (depth >= maxDepth) return '…'
  if (Array.isArray(value)) {
    const kept = value.slice(0, room.entries).map((item) => shrink(item, room, depth + 1))
    const left = value.length - kept.length
    return left > 0 ? [...kept, `… (${left} more)`] : kept
  }
  const all = Object.entries(value)
  const kept = all
    .slice(0, room.entries)
    .map(([key, entry]) => [key, shrink(entry, room, depth + 1)] as const)
  const left = all.length - kept.length
  return Object.fromEntries(left > 0 ? [...kept, ['…', `${left} more`]] : kept)
}
