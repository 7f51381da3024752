import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const bench = join(import.meta.dirname, '..')

/** Starts the process of a peer: `name`, or `name@file` for ours with another build of core. */
export async function startWorker(peer, nodeOptions = optionsOf(peer)) {
  const [, name, core] = /^([^@]+)(?:@(.+))?$/.exec(peer)
  const child = fork(join(bench, 'worker.mjs'), [adapterOf(name)], {
    execArgv: nodeOptions,
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    env: {
      ...process.env,
      ...(core === undefined ? undefined : { LAMELLA_CORE: pathToFileURL(core).href }),
      // What peers log, trace and report is off, which is their fastest setting.
      NODE_ENV: 'production',
      LANGSMITH_TRACING: 'false',
      LANGCHAIN_TRACING_V2: 'false',
      AI_SDK_LOG_WARNINGS: 'false',
      DO_NOT_TRACK: '1',
    },
  })
  const waiting = new Map()
  let lastId = 0
  let output = ''
  let ended
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (data) => {
      output = `${output}${data}`.slice(-4000)
    })
  }
  const ready = new Promise((resolve, reject) => {
    child.on('exit', (code, signal) => {
      ended = new Error(`the process of ${peer} ended (${code ?? signal})\n${output}`)
      reject(ended)
      for (const { reject: fail } of waiting.values()) fail(ended)
    })
    child.on('message', ({ id, error, ...reply }) => {
      if (reply.ready) return resolve()
      const asked = waiting.get(id)
      waiting.delete(id)
      if (error === undefined) asked.resolve(reply)
      else asked.reject(new Error(error))
    })
  })
  await ready

  return {
    peer,
    /** Rejects where the peer's output was wrong. */
    ask(command, params = {}) {
      if (ended !== undefined) return Promise.reject(ended)
      const id = ++lastId
      return new Promise((resolve, reject) => {
        waiting.set(id, { resolve, reject })
        child.send({ id, command, ...params })
      })
    },
    stop: () => child.kill(),
  }
}

/** The built-in middlewares are taken from their sources, all others as users get them. */
function optionsOf(peer) {
  return peer === 'middleware' ? ['--conditions=@lamella/source'] : []
}

function adapterOf(name) {
  const places = [`adapters/${name}.mjs`, `peers/${name}/adapter.mjs`]
  const file = places.map((place) => join(bench, place)).find(existsSync)
  if (file === undefined) throw new Error(`there is no adapter for "${name}": ${places.join(', ')}`)
  return pathToFileURL(file).href
}
