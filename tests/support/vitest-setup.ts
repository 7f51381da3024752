// A test must never reach a real provider with the keys of whoever runs it.
for (const name of Object.keys(process.env)) {
  if (/^(OPENAI|ANTHROPIC|GEMINI|GOOGLE|AZURE_OPENAI)_/.test(name)) delete process.env[name]
}
