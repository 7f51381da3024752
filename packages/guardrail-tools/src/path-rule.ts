import { checkOptions, wrongOption } from '@lamella/core/authoring'
import type { ArgumentRule } from './argument-rule.ts'

export interface PathRuleOptions {
  /** Folders in which a path may lead, such as `/srv/docs`. */
  readonly roots: readonly string[]
  /**
   * Where a relative path starts.
   * @default the first root
   */
  readonly base?: string | undefined
  /** Such as `.md`. @default any */
  readonly extensions?: readonly string[] | undefined
  /**
   * On `posix` a backslash and a colon are characters like others.
   * @default 'any': what either system would take for a way out is one
   */
  readonly platform?: 'posix' | 'any' | undefined
}

/**
 * A path that stays within some folders, however it is written: with dots, backslashes, drives, encoded
 * once or more, in overlong UTF-8 or full width. It looks at the text alone; links are not followed.
 */
export function path(options: PathRuleOptions): ArgumentRule {
  checkOptions('path', options, {
    roots: 'any',
    base: 'any',
    extensions: 'any',
    platform: ['posix', 'any'],
  })
  const { roots, base = roots?.[0], extensions, platform = 'any' } = options
  if (!Array.isArray(roots) || roots.length === 0)
    throw wrongOption('path', 'roots', 'a list', roots)
  const isPosix = platform === 'posix'
  const allowed = roots.map((root) => resolved(root, '', isPosix)!)
  return {
    check: (value) => {
      if (typeof value !== 'string' || value === '') return 'must be a path'
      const forms = readings(value)
      if (forms === undefined) return 'is not a plain path'
      for (const form of forms) {
        if (isSpecial(form, isPosix)) return 'is not a plain path'
        const target = resolved(form, base!, isPosix)
        if (target === undefined || !allowed.some((root) => isWithin(target, root))) {
          return 'leads out of the folders that are allowed'
        }
      }
      const isKind = extensions?.some((extension) => value.toLowerCase().endsWith(extension))
      return isKind === false ? 'has an extension that is not allowed' : undefined
    },
  }
}

/** What a path may be read as: as it is, and decoded until nothing changes; nothing if that goes on. */
function readings(value: string): readonly string[] | undefined {
  const forms = [value]
  for (let form = value, round = 0; ; round++) {
    const plain = decoded(form).normalize('NFKC')
    if (plain === form) return forms
    if (round === maxRounds) return undefined
    forms.push((form = plain))
  }
}

const maxRounds = 4
// Two, three … bytes for a character of one: decoders that allow it read `%c0%ae` as a dot.
const overlong = /%(?:c[01]|e0%80|f0%80%80|f8%80%80%80|fc%80%80%80%80)%([0-9a-f]{2})/gi

function decoded(text: string): string {
  return text
    .replace(overlong, (code, last: string) => {
      const low = Number.parseInt(last, 16) & 0x3f
      return String.fromCharCode(/^%c1/i.test(code) ? low | 0x40 : low)
    })
    .replace(/%u([0-9a-f]{4})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** What systems read as something else than a path. */
function isSpecial(form: string, isPosix: boolean): boolean {
  if (/\p{Cc}|^~|^[a-z][a-z0-9+.-]+:\/\//iu.test(form)) return true
  if (isPosix) return false
  const names = form.split(slashes).map((name) => name.toLowerCase())
  return (
    /^[/\\]{2}|.:./.test(form.replace(/^[a-z]:/i, '')) ||
    names.some((name) => /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/.test(name))
  )
}

/** The names that lead to it, from its root on; nothing for one that leads out of its root. */
function resolved(form: string, base: string, isPosix: boolean): readonly string[] | undefined {
  const separator = isPosix ? /\/+/ : slashes
  const isAbsolute = isPosix ? form.startsWith('/') : /^(?:[/\\]|[a-z]:)/i.test(form)
  const names: string[] = []
  for (const name of `${isAbsolute ? '' : `${base}/`}${form}`.split(separator)) {
    const plain = isPosix ? name : bare(name)
    if (plain === '.' || plain === '') continue
    // Three dots are a way up to some.
    if (/^\.{3,}$/.test(plain) || (!isPosix && /^\.\.[ .]+$/.test(plain))) return undefined
    if (plain !== '..') names.push(isPosix ? plain : plain.toLowerCase())
    else if (names.length === 0 || names[0] === '..') return undefined
    else names.pop()
  }
  return [isAbsolute || base.startsWith('/') ? '/' : '.', ...names]
}

function isWithin(target: readonly string[], root: readonly string[]): boolean {
  return root.every((name, index) => target[index] === name)
}

// Some servers and some conversions take these for slashes.
const slashes = /[/\\\u2044\u2215\u2216\u29f5\u29f8]+/

/** A name as Windows and some servers read it: without dots and spaces behind it, `..;` as `..`. */
function bare(name: string): string {
  const plain = name.replace(/^(\.+);.*$/, '$1')
  let end = plain.length
  while (end > 0 && (plain[end - 1] === '.' || plain[end - 1] === ' ')) end--
  return end === 0 ? plain : plain.slice(0, end)
}
