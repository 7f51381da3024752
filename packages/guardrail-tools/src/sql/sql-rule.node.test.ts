import { parse as parsePostgresql } from 'libpg-query'
import { parseStmt } from 'sqlite3-parser'
import { columnAttacks } from './column-attacks.test-helper.ts'
import { afterAll, describe, expect, test } from 'vitest'
import { attacks, pieces } from './sql-attacks.test-helper.ts'
import type { RealDatabase } from './sql-databases.test-helper.ts'
import { openMysql, openPostgresql, openSqlite, secret } from './sql-databases.test-helper.ts'
import type { SqlRuleOptions } from './sql-rule.ts'
import { sql } from './sql-rule.ts'

type Dialect = SqlRuleOptions['dialect']

const parsers: Readonly<Record<Dialect, (text: string) => unknown>> = {
  postgresql: parsePostgresql,
  mysql: parseStmt,
  sqlite: parseStmt,
}

const rule = (dialect: Dialect, more: Partial<SqlRuleOptions> = {}) =>
  sql({ dialect, parse: parsers[dialect], tables: ['orders', 'users'], ...more })

const ordinary = [
  'select * from orders',
  'SELECT o.id, u.name FROM orders o LEFT JOIN users AS u ON u.id = o.id WHERE o.total > 5 ORDER BY o.id DESC LIMIT 5',
  "select count(*), sum(total) as sum, max(placed) from orders where note like 'f%' group by note having count(*) > 0",
  'with big as (select id from orders where total > 10) select count(*) from big, users where users.id = big.id;',
  'select id from orders where id in (select id from users) and exists (select 1 from users where id = orders.id)',
  "select case when total > 10 then 'big' else 'small' end as size, coalesce(note, 'none') from orders order by size",
  'select id from orders union all select id from users order by 1',
  "select name from users where name = 'it''s' or name is null or not (id between 1 and 3)",
  'select t.n from (select count(*) as n from orders) t',
  'select id, row_number() over (partition by note order by total desc) as r from orders',
  'with recursive n(i) as (select 1 union all select i + 1 from n where i < 3) select i from n',
  'select cast(total as decimal(10, 2)), -total, total * 2 % 3, lower(trim(note)) from orders',
]

const ofDialect: Readonly<Record<Dialect, readonly string[]>> = {
  postgresql: [
    "select date_trunc('month', placed)::date, extract(year from placed) from orders -- by month",
    "select array_agg(id order by id), note || 'x', total::numeric(10,2) from orders group by note, total",
    "select id from orders where placed > current_date - interval '9 years' and note ilike $$f%$$",
    'select distinct on (note) * from orders order by note, id /* the first of each */',
  ],
  mysql: [
    "select date_format(placed, '%Y-%m') as month, sum(total) from orders group by month",
    'select id from orders where placed > now() - interval 7 year and `total` <> 3',
    "select if(total > 10, 'big', 'small'), left(note, 2), date_add(placed, interval 1 day) from orders",
    'select id from orders where placed >= curdate() limit 5, 10',
  ],
  sqlite: [
    "select strftime('%Y', placed), total / 2.0, note || 'x' from orders where note glob 'f*'",
    "select \"id\", [total] from orders where placed > date('now', '-1 day') -- recent",
    "select iif(total > 10, 1, 0), group_concat(note, ', ') filter (where id > 1) from orders",
  ],
}

const open: Readonly<Record<Dialect, () => Promise<RealDatabase | undefined>>> = {
  postgresql: openPostgresql,
  mysql: openMysql,
  sqlite: () => Promise.resolve(openSqlite()),
}

/** Numbers from 0 to 1 that are the same each time. */
function randomOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296
    return state / 4_294_967_296
  }
}

for (const dialect of ['postgresql', 'mysql', 'sqlite'] as const) {
  const database = await open[dialect]()
  const onDatabase = database === undefined ? test.skip : test

  describe(`sql() for ${dialect}`, () => {
    afterAll(() => database?.close())

    const allowed = async (statements: readonly string[], more: Partial<SqlRuleOptions> = {}) => {
      const own = rule(dialect, more)
      const right: string[] = []
      for (const statement of statements) {
        if ((await own.check(statement)) === undefined) right.push(statement)
      }
      return right
    }

    onDatabase('ordinary questions are allowed, and the database answers them', async () => {
      const statements = [...ordinary, ...ofDialect[dialect]]

      expect(await allowed(statements)).toEqual(statements)
      for (const statement of statements) {
        const { limited } = await database!.run(statement)
        expect(`${statement}: ${limited}`).not.toContain('failed: ')
      }
    })

    onDatabase('what is allowed of the attacks reads and writes nothing else', async () => {
      expect(attacks.length).toBeGreaterThan(900)
      const before = await database!.stored()

      for (const statement of await allowed(attacks)) {
        const { full, limited } = await database!.run(statement)
        expect(`${statement}: ${full}`).not.toMatch(new RegExp(`${secret}|root:x`))
        expect(`${statement}: ${limited}`).toBe(`${statement}: ${full}`)
      }
      expect(await database!.stored()).toBe(before)
    })

    onDatabase('what is allowed of 8,000 random statements does neither', async () => {
      const random = randomOf(7)
      const pick = () => pieces[Math.floor(random() * pieces.length)]!
      const statements = Array.from({ length: 8000 }, () => {
        const middle = Array.from({ length: 1 + Math.floor(random() * 6) }, pick).join(' ')
        const start = random() < 0.5 ? 'select id from orders' : 'select pw'
        const end = random() < 0.5 ? ' from secrets' : random() < 0.5 ? ' , secrets' : ''
        return `${start} ${middle}${random() < 0.3 ? end.trim() : end}`
      })
      const before = await database!.stored()

      const run = await allowed(statements)
      for (const statement of run) {
        const { full, limited } = await database!.run(statement)
        expect(`${statement}: ${full}`).not.toContain(secret)
        expect(`${statement}: ${limited}`).toBe(`${statement}: ${full}`)
      }
      expect(run.length).toBeGreaterThan(10)
      expect(await database!.stored()).toBe(before)
    })

    onDatabase('what is allowed of the attacks on columns reads no other column', async () => {
      const statements = columnAttacks()
      expect(statements.length).toBeGreaterThan(500)

      const run = await allowed(statements, { columns: ['id', 'name', 'x'] })

      for (const statement of run) {
        const { full } = await database!.run(statement)
        expect(`${statement}: ${full}`).not.toMatch(/first|second/)
      }
      expect(run.length).toBeGreaterThan(10)
    })

    test('only columns and functions of the list', async () => {
      const statements = [
        'select id from orders',
        'select id, count(*) as n from orders group by id order by n',
        'select orders.note from orders',
        'select * from orders',
        'select orders.* from orders',
        'select id from orders where note is null',
        'select id from orders join users using (note)',
        'select id from orders natural join users',
        'select note as id from orders',
        'select id as note from orders where note is null',
        'select orders from orders',
      ]

      expect(await allowed(statements, { columns: ['id'] })).toEqual(statements.slice(0, 2))
      expect(await allowed(['select risk(id) from orders'])).toEqual([])
      expect(await allowed(['select risk(id) from orders'], { functions: ['risk'] })).toHaveLength(
        1,
      )
    })

    test('tables of a schema are those that are listed with it', async () => {
      const statements = ['select id from sales.orders', 'select id from orders']

      expect(await allowed(statements, { tables: ['sales.*'] })).toEqual(statements.slice(0, 1))
    })

    test('a text that is too long is not read', async () => {
      const long = `select ${'1,'.repeat(5000)}1`

      expect(await rule(dialect).check(long)).toBe('must be one plain SELECT')
    })
  })
}

test('wrong options name the option and the value', () => {
  const wrong: readonly [object, RegExp][] = [
    [{ dialect: 'oracle' }, /sql: `dialect`.*oracle/],
    [{ parse: undefined }, /sql: `parse`/],
    [{ tables: 'orders' }, /sql: `tables` must be a list of names, got/],
    [{ columns: 'id' }, /sql: `columns`/],
    [{ deny: [] }, /deny/],
  ]
  for (const [more, message] of wrong) {
    expect(() => rule('sqlite', more as Partial<SqlRuleOptions>)).toThrow(message)
  }
})
