import { execFile } from 'node:child_process'
import type { RequestListener } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify, stripVTControlCharacters } from 'node:util'
import { Agent } from '@lamella/core'
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  localhostAllowedHostnames,
} from '@modelcontextprotocol/server'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { scriptedClient } from '@lamella/testing'
import { expect, test } from 'vitest'
import { agentServer } from './serve/agent-server.ts'
import { listen } from './local-http.test-helper.ts'

// The official suite (https://github.com/modelcontextprotocol/conformance), offline.
const suite = join(
  import.meta.dirname,
  '../node_modules/@modelcontextprotocol/conformance/dist/index.js',
)
const client = `${process.execPath} --conditions=@lamella/source ${import.meta.dirname}/../fixtures/conformance-client.ts`

async function conform(...args: string[]): Promise<string> {
  const options = { cwd: tmpdir(), encoding: 'utf8' as const }
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [suite, ...args], options)
  return stripVTControlCharacters(stdout + stderr)
}

test.concurrent.each([
  'tools_call',
  'elicitation-sep1034-client-defaults',
  'auth/metadata-default',
  'auth/scope-step-up',
])('the client passes %s', async (scenario) => {
  const patience = ['--timeout', '90000']
  const told = await conform('client', '--command', client, '--scenario', scenario, ...patience)

  expect(told).toMatch(/Passed: (\d+)\/\1, 0 failed/)
})

test.concurrent.each(['ping', 'tools-call-simple-text', 'dns-rebinding-protection'])(
  'an agent as a server passes %s',
  async (scenario) => {
    const agent = new Agent({ client: scriptedClient(() => 'Hello.'), description: 'Says hello.' })
    const { fetch } = createMcpHandler(agentServer({ test_simple_text: agent }))
    const handler = toNodeHandler({
      fetch: async (request, options) =>
        hostHeaderValidationResponse(request, localhostAllowedHostnames()) ??
        fetch(request, options),
    })
    await using http = await listen(handler as RequestListener)

    const told = await conform('server', '--url', http.url, '--scenario', scenario)

    expect(told).toMatch(/Passed: (\d+)\/\1, 0 failed/)
  },
)
