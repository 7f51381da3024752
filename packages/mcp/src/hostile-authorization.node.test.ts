// A server of tools that wants a token, and lies about who gives it. It listens on this machine, under public names.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  OAuthTokens,
} from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { listen } from './local-http.test-helper.ts'
import type { McpHttpServer } from './connection/mcp-server.ts'
import { mcpTools } from './mcp-tools.ts'

const tools = 'https://tools.example'
const login = 'https://login.example'
const evil = 'https://evil.example'

/** The lies of a server. The rest is as it should be. */
interface Lies {
  readonly challenge?: string
  readonly resource?: object
  readonly authorization?: object
  /** Answers of the authorization server that redirect, by path. */
  readonly redirects?: Readonly<Record<string, string>>
}

interface Asked {
  readonly address: string
  readonly method: string
  readonly body: string
}

/** Both servers, and every request that anybody got, those to other names included. */
async function started({ challenge = 'Bearer', resource, authorization, redirects = {} }: Lies) {
  const asked: Asked[] = []
  const say = (response: ServerResponse, body: object): void => {
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  const answer = (origin: string, path: string, response: ServerResponse): void => {
    const to = redirects[path]
    if (origin === tools && path === '/mcp') {
      response.writeHead(401, { 'www-authenticate': challenge }).end()
    } else if (origin === tools && path.startsWith('/.well-known/oauth-protected-resource')) {
      say(response, { resource: `${tools}/mcp`, authorization_servers: [login], ...resource })
    } else if (origin === login && to !== undefined) {
      response.writeHead(307, { location: to }).end()
    } else if (origin === login && path === '/.well-known/oauth-authorization-server') {
      say(response, {
        issuer: login,
        authorization_endpoint: `${login}/authorize`,
        token_endpoint: `${login}/token`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        authorization_response_iss_parameter_supported: true,
        ...authorization,
      })
    } else if (path === '/token') {
      say(response, { access_token: 'token-1', token_type: 'Bearer' })
    } else response.writeHead(404).end()
  }
  const http = await listen((request: IncomingMessage, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (piece: string) => (body += piece))
    request.on('end', () => {
      const address = String(request.headers['x-address'])
      asked.push({ address, method: request.method ?? '', body })
      const { origin, pathname } = new URL(address)
      answer(origin, pathname, response)
    })
  }, '/')
  /** Sends every request to this machine, whatever its address is. */
  const send: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers)
    headers.set('x-address', new Request(input).url)
    return fetch(http.url, { ...init, headers })
  }
  const shown: URL[] = []
  const server = { url: `${tools}/mcp`, authProvider: provider(shown), fetch: send }
  return {
    asked,
    shown,
    server,
    hosts: () => new Set(asked.map(({ address }) => new URL(address).origin)),
    [Symbol.asyncDispose]: () => http[Symbol.asyncDispose](),
  }
}

function provider(shown: URL[]): OAuthClientProvider {
  let tokens: OAuthTokens | undefined
  let verifier = ''
  let discovery: OAuthDiscoveryState | undefined
  return {
    redirectUrl: 'https://shop.example/callback',
    clientMetadata: { redirect_uris: ['https://shop.example/callback'] },
    clientInformation: () => ({ client_id: 'shop' }),
    tokens: () => tokens,
    saveTokens: (saved) => void (tokens = saved),
    redirectToAuthorization: (url) => void shown.push(url),
    saveCodeVerifier: (saved) => void (verifier = saved),
    codeVerifier: () => verifier,
    saveDiscoveryState: (saved) => void (discovery = saved),
    discoveryState: () => discovery,
  }
}

/** Connects as a run does, which fails: nobody has authorized. */
async function failing(server: McpHttpServer): Promise<ReturnType<typeof mcpTools>> {
  const servers = mcpTools(server)
  await expect(servers.tools()).rejects.toBeInstanceOf(Error)
  return servers
}

const inside = [
  'http://169.254.169.254/latest/meta-data',
  'https://169.254.169.254/latest/meta-data',
  'https://10.0.0.1/',
  'https://0x7f.1/',
  'https://2130706433/',
  'https://[::1]/',
  'https://[::ffff:169.254.169.254]/',
  'https://[fd00::1]/',
  'https://localhost/',
  'https://localhost./',
  'https://metadata/',
  'https://metadata.google.internal/',
  'http://public.example/',
]

test.each(inside)('a challenge that names %s asks nobody there', async (address) => {
  await using world = await started({ challenge: `Bearer resource_metadata="${address}"` })

  await failing(world.server)

  expect([...world.hosts()].filter((host) => ![tools, login].includes(host))).toEqual([])
})

test.each(inside)('an authorization server at %s is not asked', async (address) => {
  await using world = await started({ resource: { authorization_servers: [address] } })

  await failing(world.server)

  expect([...world.hosts()]).toEqual([tools])
  expect(world.shown).toEqual([])
})

test.each(inside)('no code is sent to %s', async (address) => {
  await using world = await started({ authorization: { token_endpoint: address } })
  const servers = await failing(world.server)

  const back = new URLSearchParams({ code: 'the-code', iss: login })
  await expect(servers.finishAuth(back)).rejects.toBeInstanceOf(Error)

  expect(world.asked.map(({ body }) => body).join('')).not.toContain('the-code')
})

test.each([
  ['the issuer is another', { issuer: evil }],
  ['the page has a script for an address', { authorization_endpoint: 'javascript:alert(1)' }],
])('nobody is sent to authorize where %s', async (_, authorization) => {
  await using world = await started({ authorization })

  await failing(world.server)

  expect(world.shown).toEqual([])
})

test('nobody is sent to authorize for another resource', async () => {
  await using world = await started({ resource: { resource: `${evil}/mcp` } })

  await failing(world.server)

  expect(world.shown).toEqual([])
})

test.each([
  ['is of another issuer', { code: 'the-code', iss: evil }],
  ['names no issuer, though it should', { code: 'the-code' }],
])('a redirect that %s sends no code', async (_, back) => {
  await using world = await started({})
  const servers = await failing(world.server)

  await expect(servers.finishAuth(new URLSearchParams(back))).rejects.toBeInstanceOf(Error)

  expect(world.shown).toHaveLength(1)
  expect(world.asked.map(({ body }) => body).join('')).not.toContain('the-code')
})

test.each(['/token', '/.well-known/oauth-authorization-server'])(
  'a redirect of %s to another server is not followed',
  async (path) => {
    await using world = await started({ redirects: { [path]: 'https://10.0.0.1/token' } })
    const servers = await failing(world.server)

    const back = new URLSearchParams({ code: 'the-code', iss: login })
    await servers.finishAuth(back).catch(() => {})

    expect([...world.hosts()].toSorted()).toEqual([login, tools])
  },
)

test('headers and tokens do not follow a redirect of the server of tools', async () => {
  const seen: unknown[] = []
  await using elsewhere = await listen((request, response) => {
    seen.push(request.headers['x-key'], request.headers.authorization)
    response.writeHead(404).end()
  })
  await using http = await listen((_request, response) => {
    response.writeHead(307, { location: elsewhere.url }).end()
  })
  const authProvider = { token: async () => 'token-1' }

  await failing({ url: http.url, headers: { 'x-key': 's3cret' }, authProvider })

  expect(seen.filter((value) => value !== undefined)).toEqual([])
})

test('a token is asked for and shown for this server alone', async () => {
  await using world = await started({})
  const servers = await failing(world.server)

  await servers.finishAuth(new URLSearchParams({ code: 'the-code', iss: login }))

  const [page] = world.shown
  const sent = world.asked.find(({ address }) => address === `${login}/token`)
  expect(page?.searchParams.get('resource')).toBe(`${tools}/mcp`)
  expect(new URLSearchParams(sent?.body).get('resource')).toBe(`${tools}/mcp`)
})

test('a server of a private network may name an authorization server inside it', async () => {
  const resource = { authorization_servers: ['https://10.0.0.1'] }
  await using world = await started({ resource })

  await failing({ ...world.server, allowHttp: true })

  expect([...world.hosts()]).toContain('https://10.0.0.1')
})
