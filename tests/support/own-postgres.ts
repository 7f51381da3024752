import type { ChildProcess } from 'node:child_process'
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, chownSync, constants, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { Client } from 'pg'
import { freePort } from './free-port.ts'

/** A PostgreSQL of one test, which may crash. */
export interface OwnPostgres {
  readonly url: string
  /** Crashes it, and starts it again with what it had committed. */
  restart(): Promise<void>
  close(): Promise<void>
}

/** True if `initdb` and `postgres` are in PATH. */
export const hasOwnPostgres: boolean = ['initdb', 'postgres'].every((name) =>
  (process.env['PATH'] ?? '').split(delimiter).some((path) => isProgram(join(path, name))),
)

/** Starts one in a folder of its own, on a free port. */
export async function startPostgres(children: Set<ChildProcess>): Promise<OwnPostgres> {
  const folder = mkdtempSync(join(tmpdir(), 'lamella-postgres-'))
  // PostgreSQL does not run as root.
  const user = process.getuid?.() === 0 ? { uid: nobody, gid: nobody } : {}
  if (user.uid !== undefined) chownSync(folder, user.uid, user.gid)
  const data = join(folder, 'data')
  const place = { ...user, cwd: folder, stdio: 'ignore' } as const
  // What a crash of the server leaves is in the files also without a flush to disk.
  execFileSync('initdb', ['-D', data, '-U', 'postgres', '-A', 'trust', '--no-sync'], place)
  const port = await freePort()
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off']
  const args = ['-D', data, '-p', `${port}`, ...settings.flatMap((one) => ['-c', one])]

  const start = async (): Promise<ChildProcess> => {
    const server = spawn('postgres', args, place)
    children.add(server)
    while (!(await answers(url))) {
      if (server.exitCode !== null) throw new Error('PostgreSQL does not start')
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    return server
  }
  const crash = async (server: ChildProcess): Promise<void> => {
    const over = once(server, 'exit')
    server.kill('SIGQUIT')
    await over
    children.delete(server)
  }
  let server = await start()
  return {
    url,
    async restart() {
      await crash(server)
      server = await start()
    },
    async close() {
      await crash(server)
      rmSync(folder, { recursive: true })
    },
  }
}

async function answers(url: string): Promise<boolean> {
  const client = new Client({ connectionString: url })
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('SELECT 1')
    return true
  } catch {
    return false
  } finally {
    await client.end().catch(() => {})
  }
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const nobody = 65_534
