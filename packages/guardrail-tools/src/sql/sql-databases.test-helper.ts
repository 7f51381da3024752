import { DatabaseSync } from 'node:sqlite'
import { createConnection } from 'mysql2/promise'
import postgres from 'postgres'

/** Database in which a statement is run by a user who may do everything, and by one who may read two tables. */
export interface RealDatabase {
  /** Runs a statement as both users. Returns the rows, or what went wrong, as text. */
  readonly run: (statement: string) => Promise<{ readonly full: string; readonly limited: string }>
  /** Returns all that is stored, as text. */
  readonly stored: () => Promise<string>
  readonly close: () => Promise<void>
}

/** Content of the table that no rule of the tests allows. */
export const secret = 'TOPSECRET'

const tables = [
  'create table orders (id int, total int, note varchar(40), placed date)',
  'create table users (id int, name varchar(40))',
  'create table secrets (pw varchar(40))',
  "insert into orders values (1, 10, 'first', '2026-01-02'), (2, 20, 'second', '2026-02-03')",
  "insert into users values (1, 'Ann'), (2, 'Bob')",
  `insert into secrets values ('${secret}')`,
]

const everything = ['orders', 'users', 'secrets']

const message = (error: unknown): string => `failed: ${(error as Error).message}`

/** Connects to PostgreSQL, or returns nothing where there is none. */
export async function openPostgresql(): Promise<RealDatabase | undefined> {
  const url = process.env['POSTGRES_URL'] ?? 'postgresql://postgres@127.0.0.1:5432/postgres'
  const connect = (to: string) => postgres(to, { max: 1, connect_timeout: 5, onnotice: () => {} })
  const admin = connect(url)
  const name = `lamella_sql_${process.pid}`
  try {
    await admin.unsafe(`create database ${name}`)
  } catch {
    return missing('PostgreSQL', 'POSTGRES_URL')
  }
  const owner = connect(`${url.slice(0, url.lastIndexOf('/'))}/${name}`)
  for (const statement of tables) await owner.unsafe(statement)
  await owner.unsafe(`create role ${name} nologin`)
  await owner.unsafe(`grant select on orders, users to ${name}`)
  const rows = async (statement: string): Promise<string> => {
    try {
      return JSON.stringify(await owner.unsafe(statement))
    } catch (error) {
      return message(error)
    }
  }
  return {
    run: async (statement) => {
      await owner.unsafe("set statement_timeout = '3s'")
      const full = await rows(statement)
      await owner.unsafe(`rollback; set role ${name}`)
      const limited = await rows(statement)
      await owner.unsafe('rollback; reset role')
      return { full, limited }
    },
    stored: async () => {
      const all = await Promise.all(everything.map((table) => rows(`select * from ${table}`)))
      return all.join() + (await rows('select count(*) from pg_class'))
    },
    close: async () => {
      await owner.unsafe(`drop owned by ${name}; drop role ${name}`)
      await owner.end()
      await admin.unsafe(`drop database ${name}`)
      await admin.end()
    },
  }
}

/** Connects to MariaDB or MySQL, or returns nothing where there is none. */
export async function openMysql(): Promise<RealDatabase | undefined> {
  const url = process.env['MYSQL_URL'] ?? 'mysql://root@127.0.0.1:3306'
  const owner = await createConnection({ uri: url, multipleStatements: true }).catch(
    () => undefined,
  )
  if (owner === undefined) return missing('MariaDB', 'MYSQL_URL')
  const name = `lamella_sql_${process.pid}`
  await owner.query(`create database ${name}; use ${name}; ${tables.join('; ')}`)
  await owner.query(`create user ${name}@'%' identified by '${name}'`)
  await owner.query(`grant select on ${name}.orders to ${name}@'%'`)
  await owner.query(`grant select on ${name}.users to ${name}@'%'`)
  const { hostname, port } = new URL(url)
  const limited = await createConnection({
    host: hostname,
    port: Number(port || 3306),
    user: name,
    password: name,
    database: name,
    multipleStatements: true,
  })
  const rows = async (from: typeof owner, statement: string): Promise<string> => {
    try {
      return JSON.stringify((await from.query({ sql: statement, timeout: 3000 }))[0])
    } catch (error) {
      return message(error)
    }
  }
  return {
    run: async (statement) => ({
      full: await rows(owner, statement),
      limited: await rows(limited, statement),
    }),
    stored: async () => {
      const all: string[] = []
      for (const table of everything) all.push(await rows(owner, `select * from ${table}`))
      return all.join() + (await rows(owner, 'show tables'))
    },
    close: async () => {
      await limited.end()
      await owner.query(`drop database ${name}; drop user ${name}@'%'`)
      await owner.end()
    },
  }
}

/** Opens SQLite in memory. The limited user is its authorizer. */
export function openSqlite(): RealDatabase {
  const database = new DatabaseSync(':memory:') as DatabaseSync & {
    setAuthorizer(check: ((action: number, first: string | null) => number) | null): void
  }
  for (const statement of tables) database.exec(statement)
  const rows = (statement: string): string => {
    try {
      return JSON.stringify(database.prepare(statement).all())
    } catch (error) {
      return message(error)
    }
  }
  const [ok, deny, read, select, call, recursive] = [0, 1, 20, 21, 31, 33]
  const isAllowed = (action: number, table: string | null): boolean =>
    [select, call, recursive].includes(action) ||
    (action === read && ['orders', 'users', ''].includes(table ?? ''))
  return {
    run: (statement) => {
      const full = rows(statement)
      database.setAuthorizer((action, table) => (isAllowed(action, table) ? ok : deny))
      const limited = rows(statement)
      database.setAuthorizer(null)
      return Promise.resolve({ full, limited })
    },
    stored: () =>
      Promise.resolve(
        [...everything, 'sqlite_master'].map((table) => rows(`select * from ${table}`)).join(),
      ),
    close: () => {
      database.close()
      return Promise.resolve()
    },
  }
}

function missing(name: string, variable: string): undefined {
  const words = `there is no ${name}: set ${variable}`
  if (process.env['CI'] === 'true') throw new Error(words)
  console.warn(`SKIPPED, ${words}`)
  return undefined
}
