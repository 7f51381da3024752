import type { PathDialect } from '@lamella/text'
import { checkOptions, wrongOption } from '@lamella/core/authoring'
import { decodePath, isAbsolutePath, pathNames, pathOddity } from '@lamella/text'
import type { ArgumentRule } from './argument-rule.ts'

/** Options of {@link path}. */
export interface PathRuleOptions {
  /** Folders that contain every allowed path, such as `/srv/docs`. */
  readonly roots: readonly string[]
  /**
   * Folder in which a relative path starts.
   * @default the first root
   */
  readonly base?: string | undefined
  /** Allowed extensions, such as `.md`. @default any */
  readonly extensions?: readonly string[] | undefined
  /**
   * Path syntax. With `posix` a backslash and a colon are plain characters.
   * @default 'any': a path that escapes on either system is refused
   */
  readonly platform?: 'posix' | 'any' | undefined
}

/**
 * Requires a path within some folders, in every spelling: with dots, backslashes, drives, encoded
 * once or more, in overlong UTF-8 or full width. Checks only the text; links are not followed.
 *
 * @example
 * ```ts
 * import { path } from '@lamella/guardrail-tools'
 *
 * const rule = path({ roots: ['/srv/docs'] })
 * console.log(rule.check('/srv/docs/a.md')) // undefined
 * console.log(rule.check('/srv/docs/%2e%2e/secret') === undefined) // false
 * ```
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
  const dialects = platform === 'posix' ? (['posix'] as const) : (['posix', 'win32'] as const)
  const isWithinRoots = (form: string, dialect: PathDialect): boolean => {
    const isWhole = isAbsolutePath(form, [dialect])
    const target = placeOf(isWhole ? form : `${base}/${form}`, dialect)
    return roots.some((root) => isWithin(target, placeOf(root, dialect)))
  }
  return {
    check: (value) => {
      if (typeof value !== 'string' || value === '') return 'must be a path'
      const forms = readings(value)
      if (forms === undefined || forms.some((form) => pathOddity(form, dialects) !== undefined)) {
        return 'is not a plain path'
      }
      if (!forms.every((form) => dialects.every((dialect) => isWithinRoots(form, dialect)))) {
        return 'leads out of the folders that are allowed'
      }
      const isKind = extensions?.some((extension) => value.toLowerCase().endsWith(extension))
      return isKind === false ? 'has an extension that is not allowed' : undefined
    },
  }
}

/**
 * Returns the readings of a path: unchanged, and decoded, without invisible characters, until nothing changes.
 * `undefined` if that never ends.
 */
function readings(value: string): readonly string[] | undefined {
  const forms = [value]
  for (let form = value, round = 0; ; round++) {
    const plain = decodePath(form.replace(invisible, '')).normalize('NFKC')
    if (plain === form) return forms
    if (round === maxRounds) return undefined
    forms.push((form = plain))
  }
}

const maxRounds = 4
const invisible = /\p{Cf}/gu

/** Returns the start of a path and its names, or `undefined` for a path that leaves its root. */
function placeOf(form: string, dialect: PathDialect): readonly string[] | undefined {
  const isShare = dialect === 'win32' && /^[/\\]{2}/.test(form)
  const start = isShare ? '//' : isAbsolutePath(form, [dialect]) ? '/' : '.'
  const names = pathNames(form, dialect)
  return names && [start, ...names]
}

function isWithin(
  target: readonly string[] | undefined,
  root: readonly string[] | undefined,
): boolean {
  return target !== undefined && (root?.every((name, index) => target[index] === name) ?? false)
}
