import { checkOptions } from '@lamella/core/authoring'
import type { ArgumentRule } from './argument-rule.ts'
import { nameGlob } from './name-glob.ts'

export interface SqlRuleOptions {
  /** Tables that may be read. @default any */
  readonly tables?: readonly string[] | undefined
  /** Further words that must not occur outside texts, such as names of functions. */
  readonly deny?: readonly string[] | undefined
}

/**
 * One SQL statement that reads: `select`, `with`, `values`, `explain`, `show`, `describe`. What could be
 * read in two ways by different databases is none. A user of the database without the right to write is
 * the better guard; this one says it before.
 */
export function sql(options: SqlRuleOptions = {}): ArgumentRule {
  checkOptions('sql', options, { tables: 'any', deny: 'any' })
  const { tables, deny = [] } = options
  const isTable = tables && nameGlob(tables.map((name) => name.toLowerCase()))
  const isDenied = nameGlob([...writing, ...deny.map((name) => name.toLowerCase())])
  const isFunction = nameGlob(functions)
  return {
    check: (value) => {
      const tokens = typeof value === 'string' ? tokensOf(value) : undefined
      if (tokens === undefined) return 'must be plain SQL'
      while (tokens.at(-1) === ';') tokens.pop()
      if (tokens.includes(';')) return 'must be one statement'
      if (!reading.has(tokens[0] ?? '')) return 'must only read'
      const words = new Set(tokens)
      const calls = new Set(tokens.filter((_, at) => tokens[at + 1] === '('))
      if ([...words].some(isDenied) || [...calls].some(isFunction)) return 'must only read'
      const read = isTable ? tablesOf(tokens) : []
      return read.every((name) => isTable!(name)) ? undefined : 'reads a table that is not allowed'
    },
  }
}

const reading = new Set([
  'select',
  'with',
  'values',
  'explain',
  'show',
  'describe',
  'desc',
  'table',
])

/** What writes where a statement began like one that reads: some databases need no semicolon between two. */
const writing = `
  insert update delete merge upsert truncate create alter drop grant revoke into outfile dumpfile
  call exec execute copy declare refresh backup restore shutdown kill waitfor dbcc reconfigure
  uescape
`.match(/\S+/g)!

/** Functions that write, wait, or read what is no table. */
const functions = `
  xp_* sp_* sleep pg_sleep* benchmark pg_read* pg_ls* pg_stat_file pg_terminate* pg_cancel*
  pg_reload* pg_rotate* pg_advisory* pg_notify pg_logical* pg_switch* pg_create* pg_drop* lo_*
  dblink* load_file load_extension set_config nextval setval openrowset openquery opendatasource
  query_to_xml* table_to_xml* readfile writefile edit fts3_tokenizer utl_* dbms_* extractvalue
  updatexml sys_exec sys_eval read_csv* read_text* read_blob* read_parquet* read_json* glob get_lock url file s3* remote* hdfs jdbc
  odbc executable external_query httpuritype
`.match(/\S+/g)!

// A comment, a text, a quoted name, a word or a number, or any other sign.
const token =
  /--[^\n]*|\/\*|'(?:[^']|'')*'|"((?:[^"]|"")*)"|`([^`]*)`|\[([^\]]*)\]|\$[a-z_]*\$|[\p{L}_][\p{L}\p{N}_$]*|[\d.]+|\s+|[^\s]/giuy

/** Words in lower case, texts as one sign; nothing where databases do not agree how it is read. */
function tokensOf(text: string): string[] | undefined {
  const tokens: string[] = []
  // MySQL runs some comments and takes two dashes for minus, a backslash may escape a quote or not,
  // and comments may nest or not.
  if (/\\|\/\*!|#|\0/.test(text)) return undefined
  for (let at = 0; at < text.length; at = token.lastIndex) {
    token.lastIndex = at
    const found = token.exec(text)
    if (found === null) return undefined
    const [all, quoted, ticked, bracketed] = found
    const name = quoted ?? ticked ?? bracketed
    if (all === '/*') {
      const end = text.indexOf('*/', at + 2)
      if (end < 0 || text.slice(at + 2, end).includes('/*')) return undefined
      token.lastIndex = end + 2
    } else if (/^(?:'|"|`|\$[a-z_]*\$)$/i.test(all)) return undefined
    else if (name !== undefined) {
      if (/[;'"`/*]|--/.test(name)) return undefined
      tokens.push(name.toLowerCase())
    } else if (/^--\S/.test(all)) return undefined
    else if (all.startsWith("'")) tokens.push("'")
    else if (!/^(?:--|\s)/.test(all)) tokens.push(all.toLowerCase())
  }
  return tokens
}

/** What stands where a table may stand. */
function tablesOf(tokens: readonly string[]): readonly string[] {
  const own = new Set(
    tokens.flatMap((word, at) => (tokens[at + 1] === 'as' && tokens[at + 2] === '(' ? [word] : [])),
  )
  const names: string[] = []
  for (const [at, word] of tokens.entries()) {
    if (!/^(?:from|join|table|describe|desc)$/.test(word)) continue
    for (let next = at + 1; next < tokens.length; ) {
      let name = tokens[next++]!
      if (/^(?:from|join|select)$/.test(name)) break
      while (tokens[next] === '.') {
        name += `.${tokens[next + 1]}`
        next += 2
      }
      if (name !== '(' && !own.has(name)) names.push(name)
      if (name === '(') break
      // An alias, and then maybe one more table.
      if (tokens[next] === 'as') next += 2
      else if (/^[\p{L}_]/u.test(tokens[next] ?? '') && tokens[next + 1] === ',') next++
      if (tokens[next] !== ',') break
      next++
    }
  }
  return names
}
