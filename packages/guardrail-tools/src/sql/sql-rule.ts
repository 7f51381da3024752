import { checkOptions, wrongOption } from '@lamella/core/authoring'
import type { ArgumentRule } from '../rules/argument-rule.ts'
import { nameGlob } from '../rules/name-glob.ts'
import { plainMysql } from './mysql-text.ts'
import { readPostgresql } from './postgresql-reader.ts'
import { commonFunctions, dialectFunctions } from './sql-functions.ts'
import type { SqlDialect, SqlReader } from './sql-names.ts'
import { readMysql, readSqlite } from './sqlite-reader.ts'

/** Options of `sql()`. */
export interface SqlRuleOptions {
  /** Database that runs the statement. `mysql` is MySQL and MariaDB. */
  readonly dialect: SqlDialect
  /**
   * Parser of the statement: `parse` of `libpg-query` for PostgreSQL, `parseStmt` of `sqlite3-parser` for
   * SQLite, MySQL and MariaDB.
   */
  readonly parse: (text: string) => unknown
  /**
   * Tables and views that a statement may read, as names or globs, with their schema where it states it.
   * PostgreSQL's unquoted names and all of SQLite's are in lower case, MySQL's as the statement writes them.
   */
  readonly tables: readonly string[]
  /**
   * Columns that a statement may read, of any table, as names or globs. With it, `select *` is
   * denied.
   * @default any
   */
  readonly columns?: readonly string[] | undefined
  /** Functions that a statement may call besides the usual ones that only compute. */
  readonly functions?: readonly string[] | undefined
  /**
   * Length of the longest statement, in UTF-16 units.
   * @default 10000
   */
  readonly maxChars?: number | undefined
}

/**
 * Requires one `SELECT` that reads only these tables and columns and calls only these functions,
 * judged by the syntax tree. A statement that does not parse is denied.
 *
 * @example
 * ```ts
 * import { sql } from '@lamella/guardrail-tools'
 * import { parse } from 'libpg-query'
 *
 * const rule = sql({ dialect: 'postgresql', parse, tables: ['orders'] })
 * await rule.check('select * from secrets') // 'reads a table that is not allowed'
 * ```
 * @throws TypeError or RangeError that names the option and the value
 */
export function sql(options: SqlRuleOptions): ArgumentRule {
  checkOptions('sql', options, {
    dialect: ['postgresql', 'mysql', 'sqlite'],
    parse: 'function?',
    tables: 'any',
    columns: 'any',
    functions: 'any',
    maxChars: 1,
  })
  const { dialect, parse, tables, columns, functions = [], maxChars = 10_000 } = options
  if (dialect === undefined || parse === undefined) {
    const missing = dialect === undefined ? 'dialect' : 'parse'
    throw wrongOption('sql', missing, 'given', undefined)
  }
  for (const [name, list] of Object.entries({ tables, columns: columns ?? [], functions })) {
    if (!Array.isArray(list)) throw wrongOption('sql', name, 'a list of names', list)
  }
  const read = readers[dialect]
  const isTable = nameGlob(tables)
  const isColumn = columns && nameGlob(columns)
  const isFunction = nameGlob([...commonFunctions, ...dialectFunctions[dialect], ...functions])

  return {
    check: async (value) => {
      if (typeof value !== 'string' || value.length > maxChars || !isPlain(value, dialect)) {
        return unread
      }
      const text = dialect === 'mysql' ? plainMysql(value) : value
      if (text === undefined) return unread
      let names: ReturnType<SqlReader>
      try {
        names = read(await parse(text))
      } catch {
        return unread
      }
      if (!names.tables.every(isTable)) return 'reads a table that is not allowed'
      if (!names.functions.every(isFunction)) return 'calls a function that is not allowed'
      if (isColumn && !names.columns.every(isColumn)) return 'reads a column that is not allowed'
      return undefined
    },
  }
}

const unread = 'must be one plain SELECT'

const readers: Readonly<Record<SqlDialect, SqlReader>> = {
  postgresql: readPostgresql,
  mysql: readMysql,
  sqlite: readSqlite,
}

// Databases disagree about blanks beyond ASCII, invisible characters and NUL.
const odd = /[^\P{C}\t\r\n]|[^\P{Z} ]/u

/** Tells whether databases, and all settings of one, agree where the strings of a text end. */
function isPlain(text: string, dialect: SqlDialect): boolean {
  if (odd.test(text)) return false
  if (dialect !== 'postgresql') return true
  // Without `standard_conforming_strings`, strings continue behind a backslash and a quote. Comments may nest,
  // and the parser takes a time that grows with the square of the depth.
  return !text.includes("\\'") && text.split('/*').length <= 20
}
