// Runs every example as a reader would, without any key: each must end well and print something.
import { spawn } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'

const timeoutMs = 60_000

const runs = readdirSync('examples')
  .filter((name) => /^\d\d-.*\.ts$/.test(name))
  .toSorted()
  .map((name) => [name])
if (existsSync('examples/docs-assistant.ts')) {
  runs.push(['docs-assistant.ts', 'What is a middleware?'])
}

const env = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !/^(OPENAI|ANTHROPIC|GEMINI|GOOGLE|AZURE_OPENAI)_/.test(name),
  ),
)

let failed = 0
for (const [file, ...args] of runs) {
  const { code, output, errors, seconds } = await runExample(file, args)
  const problem =
    code !== 0 ? `ended with ${code}` : output.trim() === '' ? 'printed nothing' : undefined
  console.log(`${problem ? 'FAILED' : 'ok    '} ${file} ${seconds.toFixed(1)} s ${problem ?? ''}`)
  if (problem) {
    failed++
    console.log(output + errors)
  }
}
console.log(`${runs.length - failed} of ${runs.length} examples ran well`)
process.exit(failed === 0 ? 0 : 1)

function runExample(file, args) {
  const start = performance.now()
  const child = spawn(
    process.execPath,
    ['--conditions=@lamella/source', `examples/${file}`, ...args],
    { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: timeoutMs },
  )
  let output = ''
  let errors = ''
  child.stdout.on('data', (chunk) => (output += chunk))
  child.stderr.on('data', (chunk) => (errors += chunk))
  return new Promise((resolve) => {
    child.on('close', (code, signal) => {
      const seconds = (performance.now() - start) / 1000
      resolve({ code: code ?? signal, output, errors, seconds })
    })
  })
}
