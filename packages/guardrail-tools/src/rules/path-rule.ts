import type { PathDialect } from '@lamella/core/authoring'
import {
  checkOptions,
  decodePath,
  isAbsolutePath,
  pathNames,
  pathOddity,
  wrongOption,
} from '@lamella/core/authoring'
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

/** What a path may be read as: as it is, and decoded until nothing changes; nothing if that goes on. */
function readings(value: string): readonly string[] | undefined {
  const forms = [value]
  for (let form = value, round = 0; ; round++) {
    const plain = decodePath(form).normalize('NFKC')
    if (plain === form) return forms
    if (round === maxRounds) return undefined
    forms.push((form = plain))
  }
}

const maxRounds = 4

/** Where it starts, and the names that lead on from there; nothing for one that leads out of its root. */
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
