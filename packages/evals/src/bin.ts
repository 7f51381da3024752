#!/usr/bin/env node
import { runCommand } from './command/command.ts'

const end = new AbortController()
process.once('SIGINT', () => end.abort())
process.once('SIGTERM', () => end.abort())

process.exitCode = await runCommand(process.argv.slice(2), {
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
  ...(process.stderr.isTTY && { progress: (text) => process.stderr.write(`\r\u001B[K${text}`) }),
  env: process.env,
  signal: end.signal,
})
