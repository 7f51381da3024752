import { createHash, randomUUID } from 'node:crypto'
import { readFile, stat, unlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { LamellaError } from '@lamella/core'

/** A lock on a file. */
export interface FileLock {
  release(): Promise<void>
}

interface Holder {
  readonly host: string
  readonly pid: number
  /** Id of the process: its number may have belonged to an earlier process. */
  readonly process: string
}

const own: Holder = { host: hostname(), pid: process.pid, process: randomUUID() }

/**
 * Takes the lock of a file: `<path>.lock`, which names its holder. Takes over the lock of an ended process of this
 * machine, and one that has named no holder for ten seconds.
 * @throws LamellaError `audit_conflict` if another holder exists
 */
export async function lockFile(path: string): Promise<FileLock> {
  return take(`${path}.lock`, path)
}

async function take(lock: string, path: string): Promise<FileLock> {
  const text = `${JSON.stringify(own)}\n`
  for (let attempt = 0; ; attempt++) {
    try {
      await writeFile(lock, text, { flag: 'wx', mode: 0o600 })
      break
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
    }
    const found = await readFile(lock, 'utf8').catch((error: unknown) => {
      if (!hasCode(error, 'ENOENT')) throw error
    })
    if (found === undefined) continue
    if (attempt === attempts || !(await isLeft(lock, found))) throw conflict(path, found)
    await removeLeft(lock, found, path)
  }
  return { release: () => remove(lock, text) }
}

const attempts = 3

/** Removes a lock whose holder has ended. Holds a second lock meanwhile, so that only one process removes it. */
async function removeLeft(lock: string, found: string, path: string): Promise<void> {
  const digest = createHash('sha256').update(found).digest('hex').slice(0, 16)
  const permit = await take(`${lock}.${digest}`, path)
  try {
    await remove(lock, found)
  } finally {
    await permit.release()
  }
}

/** Removes a lock if it is still the expected one. Only its holder or its remover may call it. */
async function remove(lock: string, expected: string): Promise<void> {
  try {
    if ((await readFile(lock, 'utf8')) === expected) await unlink(lock)
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) throw error
  }
}

/** Milliseconds after which a lock without form is no longer being written: a full disk or a kill left it so. */
const writingMs = 10_000

/** Returns true if the holder of a lock has ended without releasing it. */
async function isLeft(lock: string, text: string): Promise<boolean> {
  const holder = read(text)
  if (holder === undefined) {
    const since = await stat(lock).then(
      ({ mtimeMs }) => mtimeMs,
      () => Infinity,
    )
    return Date.now() - since > writingMs
  }
  if (holder.host !== own.host) return false
  if (holder.pid === own.pid) return holder.process !== own.process
  try {
    process.kill(holder.pid, 0)
    return false
  } catch (error) {
    return hasCode(error, 'ESRCH')
  }
}

function read(text: string): Holder | undefined {
  try {
    const holder = JSON.parse(text) as Partial<Holder> | null
    return typeof holder?.pid === 'number' && holder.pid > 0 ? (holder as Holder) : undefined
  } catch {
    return undefined
  }
}

function conflict(path: string, found: string): LamellaError {
  const holder = read(found)
  const who = holder
    ? `process ${holder.pid} on ${holder.host} writes it`
    : 'somebody else writes it'
  return new LamellaError(`${path} is locked by ${path}.lock: ${who}`, { code: 'audit_conflict' })
}

function hasCode(error: unknown, code: string): boolean {
  return (error as NodeJS.ErrnoException | undefined)?.code === code
}
