import { connect } from 'node:net'
import { describe } from 'vitest'

/** A PostgreSQL to test with: `POSTGRES_URL`, else the usual place on this machine. */
export const postgresUrl: string =
  process.env['POSTGRES_URL'] ?? 'postgres://postgres@127.0.0.1:5432/test'

const { host, hostname, port } = new URL(postgresUrl)

/** Resolves to true if the server answers. In CI it has to. */
export const hasPostgres: boolean = await answers()

if (!hasPostgres) {
  const words = `there is no PostgreSQL at ${host}`
  if (process.env['CI'] === 'true') throw new Error(words)
  console.warn(`SKIPPED, ${words}: set POSTGRES_URL`)
}

/** Skips where there is no PostgreSQL. */
export const describeWithPostgres: typeof describe.skip = hasPostgres ? describe : describe.skip

/** Asks whether it speaks TLS, which it answers with one letter, so that no client is needed. */
async function answers(): Promise<boolean> {
  const socket = connect({ host: hostname, port: Number(port || 5432) })
  const answer = await new Promise<string>((resolve) => {
    socket.once('data', (data) => resolve(data.toString()))
    socket.once('error', () => resolve(''))
    socket.setTimeout(5000, () => resolve(''))
    socket.write(Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]))
  })
  socket.destroy()
  return answer === 'S' || answer === 'N'
}
