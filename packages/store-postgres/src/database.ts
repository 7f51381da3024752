import type { Pool, PoolClient, QueryResultRow } from 'pg'
import { postgresMigration, schemaName } from './postgres-migration.ts'

/** Runs one statement. A name makes it a prepared one. */
export type RunQuery = <Row extends QueryResultRow>(
  sql: string,
  values: readonly unknown[],
) => Promise<readonly Row[]>

/** A pool of connections, and the tables behind it. */
export class Database {
  readonly #pool: Pool
  readonly #schema: string
  readonly #migrates: boolean
  #ready: Promise<void> | undefined

  constructor(pool: Pool, options: { readonly schema: string; readonly migrates: boolean }) {
    this.#pool = pool
    this.#schema = options.schema
    this.#migrates = options.migrates
  }

  /** Name of a table. */
  table(name: string): string {
    return `${schemaName(this.#schema)}.lamella_${name}`
  }

  /** Runs one statement. */
  async query<Row extends QueryResultRow>(
    sql: string,
    values: readonly unknown[],
  ): Promise<readonly Row[]> {
    await this.prepare()
    const { rows } = await this.#pool.query<Row>({ text: sql, values: [...values] })
    return rows
  }

  /** Runs `work` as one step. */
  async transaction<Result>(work: (query: RunQuery) => Promise<Result>): Promise<Result> {
    await this.prepare()
    const client = await this.#pool.connect()
    let failure: Error | undefined
    // Without a listener, a connection that breaks between two statements would end the process.
    const onError = (error: Error): void => void (failure = error)
    client.on('error', onError)
    try {
      await client.query('BEGIN')
      const result = await work(queryOf(client))
      await client.query('COMMIT')
      return result
    } catch (error) {
      // The connection is not used again, so the database rolls back by itself.
      failure = error as Error
      throw error
    } finally {
      client.off('error', onError)
      client.release(failure)
    }
  }

  /** Makes the tables, once. After a failure, the next call tries again. */
  async prepare(): Promise<void> {
    if (!this.#migrates) return
    this.#ready ??= this.#pool.query(postgresMigration(this.#schema)).then(
      () => {},
      (error: unknown) => {
        this.#ready = undefined
        throw error
      },
    )
    await this.#ready
  }
}

function queryOf(client: PoolClient): RunQuery {
  return async <Row extends QueryResultRow>(sql: string, values: readonly unknown[]) => {
    const { rows } = await client.query<Row>({ text: sql, values: [...values] })
    return rows
  }
}
