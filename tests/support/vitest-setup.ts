import * as fc from 'fast-check'

// The quick tests and those of a change draw the same cases each time, so that red means a change. `npm run long` draws
// new cases, and a failure there prints the seed that repeats it.
if (process.env['LAMELLA_TESTS'] !== 'long' || process.env['SAME_CASES'] === 'true')
  fc.configureGlobal({ seed: 1 })

// A test must never reach a real provider with the keys of whoever runs it.
for (const name of Object.keys(process.env)) {
  if (/^(OPENAI|ANTHROPIC|GEMINI|GOOGLE|AZURE_OPENAI)_/.test(name)) delete process.env[name]
}
