import { type Declarations, fieldsOf, type OptionField, split } from './option-fields.ts'

interface Row {
  names: string[]
  byDefault: string
}

/**
 * What a README says of options and the types do not, or the other way round, a line for each.
 * A table of options stands below a comment such as `<!-- options RetryOptions -->`, which names the
 * types it is about. `PathOptions as paths` stands for rows such as `paths.roots`, and `B without A` for
 * what B adds to A. An options type without a table is told in one code span that names all its fields.
 */
export function optionProblems(
  markdown: string,
  exported: readonly string[],
  types: Declarations,
): string[] {
  const tables = optionTables(markdown)
  const inTables = new Set(tables.flatMap((table) => table.types.map(({ type }) => type)))
  return [
    ...tables.flatMap((table) => tableProblems(table, types)),
    ...exported
      .filter((type) => !inTables.has(type))
      .flatMap((type) => spanProblems(type, markdown, types)),
  ]
}

interface Table {
  types: { type: string; prefix: string; base: string | undefined }[]
  rows: Row[]
}

/** The tables of a README that are marked as those of options. */
function optionTables(markdown: string): Table[] {
  return [...markdown.matchAll(/^<!-- options (.*) -->\n+((?:\|.*\n?)+)/gm)].map(
    ([, types = '', table = '']) => ({
      types: types.split(', ').map((text) => {
        const [whole = '', prefix] = text.split(' as ')
        const [type = '', base] = whole.split(' without ')
        return { type, base, prefix: prefix === undefined ? '' : `${prefix}.` }
      }),
      rows: table
        .trim()
        .split('\n')
        .slice(2)
        .map((line) => {
          const [, first = '', second = ''] = line.split(/(?<!\\)\|/)
          const names = [...first.matchAll(/`([\w.]+)(?:\([^`]*)?`/g)].map(([, name = '']) => name)
          return { names, byDefault: second.trim() }
        })
        .filter(({ names }) => names.length > 0),
    }),
  )
}

function tableProblems({ types: about, rows }: Table, types: Declarations): string[] {
  const title = about.map(({ type }) => type).join(', ')
  const fields = new Map(
    about.flatMap(({ type, base, prefix }) => {
      const inherited = base === undefined ? undefined : fieldsOf(base, types)
      return [...fieldsOf(type, types)]
        .filter(([name]) => inherited?.has(name) !== true)
        .map(([name, field]) => [prefix + name, field] as const)
    }),
  )
  const named = rows.flatMap(({ names }) => names)
  const isTold = (name: string) =>
    named.includes(name) ||
    named.some((other) => other.startsWith(`${name}.`) || name.startsWith(`${other}.`)) ||
    about.some(({ prefix }) => prefix === `${name}.`)
  return [
    ...[...fields.keys()]
      .filter((name) => !isTold(name))
      .map((name) => `${title}: \`${name}\` has no row`),
    ...named
      .filter((name) => !fields.has(name))
      .map((name) => `${title}: there is no option \`${name}\``),
    ...named
      .filter((name, index) => named.indexOf(name) !== index)
      .map((name) => `${title}: \`${name}\` has two rows`),
    ...rows.flatMap((row) => rowProblems(row, fields).map((problem) => `${title}: ${problem}`)),
  ]
}

function rowProblems({ names, byDefault }: Row, fields: Map<string, OptionField>): string[] {
  const parts = split(byDefault, ',')
  const isEach = parts.length === names.length && names.length > 1
  const isAll = names.length === 1 || parts.length <= 1
  if (!isEach && !isAll) return [`of \`${names.join('`, `')}\`, which has which default?`]
  return names.flatMap((name, index) => {
    const field = fields.get(name)
    const stated = isEach ? (parts[index] ?? '') : byDefault
    return field === undefined ? [] : defaultProblems(field, stated, name)
  })
}

function defaultProblems(field: OptionField, stated: string, name: string): string[] {
  if (/\]\(/.test(stated)) return [] // told where the link leads
  if (field.isRequired !== stated.startsWith('required')) {
    return [`\`${name}\` is ${field.isRequired ? '' : 'not '}required`]
  }
  const here = literal(stated)
  const there = literal(field.byDefault ?? '')
  const isFree = name === 'name' && there === undefined // each factory has its own
  if (here === there || isFree) return []
  return [`\`${name}\` is ${stated || 'nothing'} here and ${field.byDefault ?? 'nothing'} there`]
}

/** The value that a text begins with, in one way of writing it. */
function literal(text: string): string | undefined {
  const plain = text.replaceAll('`', '').trim()
  const value = /^(?:'[^']*'|true\b|false\b|-?\d[\d_]*(?:[ ,]\d{3}\b)*(?:\.\d+)?(?!\w))/.exec(plain)
  if (value !== null) {
    return value[0].startsWith("'") ? value[0] : value[0].replaceAll(/[_ ,]/g, '')
  }
  const [list] = split(plain, ',')
  return list !== undefined && /^[[{].*[\]}]$/.test(list)
    ? list.replaceAll(/[\s_]/g, '')
    : undefined
}

function spanProblems(type: string, markdown: string, types: Declarations): string[] {
  const fields = [...fieldsOf(type, types).values()].filter(({ name }) => !name.includes('.'))
  const spans = [...markdown.matchAll(/`([^`\n]*\{[^`\n]*\}[^`\n]*)`/g)].map(
    ([, code = '']) => code,
  )
  const names = (code: string) =>
    fields.filter(({ name }) => new RegExp(`\\b${name}\\b`).test(code)).length
  const best = spans.toSorted((a, b) => names(b) - names(a))[0] ?? ''
  const missing = fields.filter(({ name }) => !new RegExp(`\\b${name}\\b`).test(best))
  if (missing.length > 0) {
    return [
      `${type}: no table, and no code span with all of ${fields.map(({ name }) => name).join(', ')}`,
    ]
  }
  return fields.flatMap(({ name, byDefault }) => {
    const inner = /\{(.*)\}/.exec(best)?.[1] ?? ''
    const part = split(inner, ',').find((text) => text.startsWith(`${name}:`))
    const here = part === undefined ? undefined : literal(part.slice(name.length + 1))
    const there = literal(byDefault ?? '')
    return here === undefined || there === undefined || here === there
      ? []
      : [`${type}: \`${name}\` is ${here} here and ${there} there`]
  })
}
