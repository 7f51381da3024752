import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthTokens,
} from '@modelcontextprotocol/client'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { expect, test } from 'vitest'
import { listen } from './local-http.test-helper.ts'
import { trial } from './local-server.test-helper.ts'
import { mcpTools } from './mcp-tools.ts'

function server(): McpServer {
  const made = new McpServer({ name: 'private', version: '1' })
  made.registerTool('secret', { description: 'Tells.' }, () => ({ content: [] }))
  return made
}

/** A server of tools that wants a token, and the authorization server that gives it for a code. */
function guarded(): RequestListener {
  const serve = toNodeHandler(createMcpHandler(server)) as RequestListener
  const say = (response: ServerResponse, body: object, status = 200): void => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  return (request: IncomingMessage, response) => {
    const origin = `http://${request.headers.host}`
    const { pathname } = new URL(request.url ?? '', origin)
    if (pathname.startsWith('/.well-known/oauth-protected-resource')) {
      say(response, { resource: `${origin}/mcp`, authorization_servers: [origin] })
    } else if (pathname.startsWith('/.well-known/')) {
      say(response, {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
      })
    } else if (pathname === '/token') {
      let body = ''
      request.on('data', (chunk) => (body += String(chunk)))
      request.on('end', () => {
        const isRight = new URLSearchParams(body).get('code') === 'the-code'
        if (isRight) say(response, { access_token: 'token-1', token_type: 'Bearer' })
        else say(response, { error: 'invalid_grant' }, 400)
      })
    } else if (request.headers.authorization === 'Bearer token-1') serve(request, response)
    else response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
  }
}

function provider(redirects: URL[]): OAuthClientProvider {
  let tokens: OAuthTokens | undefined
  let verifier = ''
  let discovery: OAuthDiscoveryState | undefined
  return {
    redirectUrl: 'http://127.0.0.1/callback',
    clientMetadata: { redirect_uris: ['http://127.0.0.1/callback'] },
    clientInformation: () => ({ client_id: 'lamella-test' }),
    tokens: () => tokens,
    saveTokens: (saved) => void (tokens = saved),
    redirectToAuthorization: (url) => void redirects.push(url),
    saveCodeVerifier: (saved) => void (verifier = saved),
    codeVerifier: () => verifier,
    saveDiscoveryState: (saved) => void (discovery = saved),
    discoveryState: () => discovery,
  }
}

test('a person authorizes by a redirect, and the next run has the tools', async () => {
  await using http = await listen(guarded())
  const redirects: URL[] = []
  const { client, run, servers } = trial({ url: http.url, authProvider: provider(redirects) })

  await expect(run()).rejects.toMatchObject({
    code: 'mcp_unauthorized',
    message: 'the MCP server "mcp" asks for authorization',
  })
  expect(redirects[0]?.pathname).toBe('/authorize')
  expect(redirects[0]?.searchParams.get('code_challenge_method')).toBe('S256')

  const redirect = new URLSearchParams({ code: 'the-code' })
  const state = redirects[0]?.searchParams.get('state')
  if (state) redirect.set('state', state)
  await servers.finishAuth(redirect)
  await run()
  await servers.close()

  expect(client.requests[0]?.options.tools).toMatchObject([{ name: 'mcp_secret' }])
})

test('a bearer token comes from a function', async () => {
  await using http = await listen(guarded())
  const authProvider = { token: async () => 'token-1' }

  await using servers = mcpTools({ url: http.url, authProvider })

  expect(await servers.tools()).toHaveLength(1)
})

test('a server that nobody asked to authorize has nothing to finish', async () => {
  const servers = mcpTools({ url: 'https://tools.example/mcp' })

  await expect(servers.finishAuth(new URLSearchParams())).rejects.toMatchObject({
    code: 'mcp_unauthorized',
  })
})

test('headers of the server do not reach the authorization server on another origin', async () => {
  const seen: (string | undefined)[] = []
  await using elsewhere = await listen((request, response) => {
    seen.push(request.headers['x-key'] as string | undefined)
    response.writeHead(404).end()
  })
  await using http = await listen((request, response) => {
    const { pathname } = new URL(request.url ?? '', 'http://local')
    if (!pathname.startsWith('/.well-known/')) {
      response.writeHead(401, { 'www-authenticate': 'Bearer' }).end()
      return
    }
    const { origin } = new URL(elsewhere.url)
    const { host } = request.headers
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(
      JSON.stringify({ resource: `http://${host}/mcp`, authorization_servers: [origin] }),
    )
  })
  const headers = { 'x-key': 's3cret' }
  await using servers = mcpTools({ url: http.url, headers, authProvider: provider([]) })

  await expect(servers.tools()).rejects.toMatchObject({ code: 'mcp_unauthorized' })

  expect(seen.length).toBeGreaterThan(0)
  expect(seen).not.toContain('s3cret')
})
