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

const marked = /^(<!-- options (.*) -->\n+)((?:\|.*\n?)+)/gm

/** The tables of a README that are marked as those of options. */
function optionTables(markdown: string): Table[] {
  return [...markdown.matchAll(marked)].map(([, , types = '', table = '']) => ({
    types: typesOf(types),
    rows: rowsOf(table).filter(({ names }) => names.length > 0),
  }))
}

function typesOf(mark: string): Table['types'] {
  return mark.split(', ').map((text) => {
    const [whole = '', prefix] = text.split(' as ')
    const [type = '', base] = whole.split(' without ')
    return { type, base, prefix: prefix === undefined ? '' : `${prefix}.` }
  })
}

function rowsOf(table: string): Row[] {
  return table.trim().split('\n').slice(2).map(rowOf)
}

function rowOf(line: string): Row {
  const [, first = '', second = ''] = cellsOf(line)
  const names = [...first.matchAll(/`([\w.]+)(?:\([^`]*)?`/g)].map(([, name = '']) => name)
  return { names, byDefault: second.trim() }
}

function cellsOf(line: string): string[] {
  return line.split(/(?<!\\)\|/)
}

/**
 * Completes the tables of a README from the types: adds a row for each option that has none, with the first
 * sentence of its doc comment, removes rows of options that are gone, and corrects a default.
 */
export function withOptions(markdown: string, types: Declarations): string {
  return markdown.replaceAll(marked, (_, head: string, mark: string, text: string) => {
    const about = typesOf(mark)
    const fields = fieldsOfTable(about, types)
    const [titles = '', line = '', ...lines] = text.trimEnd().split('\n')
    const rows = rowsOf(text)
    const kept = lines
      .filter((_line, at) => {
        const { names } = rows[at]!
        return names.length !== 1 || fields.has(names[0]!)
      })
      .map((row) => withDefault(row, fields))
    const width = cellsOf(titles).length - 2
    const added = untold({ types: about, rows }, fields).map((name) => {
      const field = fields.get(name)!
      const cells = [`\`${name}\``, defaultCell(field), meaningOf(field)]
      return `| ${Array.from({ length: width }, (_cell, at) => cells[at] ?? '').join(' | ')} |`
    })
    return `${head}${[titles, line, ...kept, ...added].join('\n')}\n`
  })
}

function withDefault(line: string, fields: Map<string, OptionField>): string {
  const row = rowOf(line)
  const [name] = row.names
  const field = name === undefined ? undefined : fields.get(name)
  if (row.names.length !== 1 || field === undefined) return line
  if (defaultProblems(field, row.byDefault, name!).length === 0) return line
  const cells = cellsOf(line)
  cells[2] = ` ${defaultCell(field)} `
  return cells.join('|')
}

/** The default of an option as a table tells it. */
function defaultCell({ isRequired, byDefault = '' }: OptionField): string {
  if (isRequired) return 'required'
  const value = literal(byDefault)
  if (value === undefined) return byDefault
  const shown = /^-?\d/.test(value) ? value.replaceAll(/\B(?=(?:\d{3})+$)/g, ' ') : `\`${value}\``
  return [shown, ...split(byDefault, ',').slice(1)].join(', ')
}

function meaningOf({ doc }: OptionField): string {
  return doc.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase()).replaceAll('|', '\\|')
}

function fieldsOfTable(about: Table['types'], types: Declarations): Map<string, OptionField> {
  return new Map(
    about.flatMap(({ type, base, prefix }) => {
      const inherited = base === undefined ? undefined : fieldsOf(base, types)
      return [...fieldsOf(type, types)]
        .filter(([name]) => inherited?.has(name) !== true)
        .map(([name, field]) => [prefix + name, field] as const)
    }),
  )
}

/** Options of which a table says nothing. */
function untold({ types: about, rows }: Table, fields: Map<string, OptionField>): string[] {
  const named = rows.flatMap(({ names }) => names)
  return [...fields.keys()].filter(
    (name) =>
      !named.includes(name) &&
      !named.some((other) => other.startsWith(`${name}.`) || name.startsWith(`${other}.`)) &&
      !about.some(({ prefix }) => prefix === `${name}.`),
  )
}

function tableProblems(table: Table, types: Declarations): string[] {
  const { types: about, rows } = table
  const title = about.map(({ type }) => type).join(', ')
  const fields = fieldsOfTable(about, types)
  const named = rows.flatMap(({ names }) => names)
  return [
    ...untold(table, fields).map(
      (name) => `${title}: \`${name}\` has no row; \`npm run fix\` adds it`,
    ),
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
