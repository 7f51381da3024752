import { spawn } from 'node:child_process'

/**
 * Runs a command to its end.
 * @returns {Promise<{ code: number | string, output: string, errors: string }>}
 */
export function runProgram(command, args, { cwd, env, timeoutMs }) {
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
  let output = ''
  let errors = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => (output += chunk))
  child.stderr.setEncoding('utf8').on('data', (chunk) => (errors += chunk))
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: error.code, output, errors: String(error) }))
    child.on('close', (code, signal) => resolve({ code: code ?? signal, output, errors }))
  })
}
