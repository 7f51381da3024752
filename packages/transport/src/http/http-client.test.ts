import { describe, expect, test, vi } from 'vitest'
import { HttpClient } from './http-client.ts'
import type { ApiRequest } from './request-sender.ts'
import { ProviderError } from '@lamella/core'
import type { HttpClientOptions } from './http-client.ts'
import { HttpFailure, TransportFault } from '../failures/transport-fault.ts'

interface Seen {
  readonly url: string
  readonly init: RequestInit
}

/** A client whose attempts get these answers in turn, and the requests that it sent. */
function setUp(answers: readonly (() => Response | Promise<Response>)[], options: object = {}) {
  const seen: Seen[] = []
  const fetch: NonNullable<HttpClientOptions['fetch']> = async (input, init = {}) => {
    seen.push({ url: input as string, init })
    return answers[seen.length - 1]!()
  }
  const http = new HttpClient({ baseURL: 'https://a.example/v1/', fetch, ...options })
  const { signal } = new AbortController()
  const post = (more: object = {}) =>
    http.send({ method: 'POST', path: '/x', body: { a: 1 }, signal, ...more })
  return { http, seen, post }
}

const ok = () => Response.json({ ok: true })
const failed =
  (status: number, headers: Record<string, string> = {}, body: string | null = null) =>
  () =>
    new Response(body, { status, headers: { 'retry-after-ms': '1', ...headers } })
const never = () => new Promise<Response>(() => {})
const reasonOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (reason: unknown) => reason,
  )

test('sends JSON below the address, with the key, the headers and the query', async () => {
  const { seen, post } = setUp([ok], {
    apiKey: 'k',
    headers: { 'X-Team': 'a', accept: 'text/plain' },
    query: { 'api-version': '1' },
  })

  await post({ headers: { 'x-team': 'b' }, query: { q: '2' } })

  expect(seen[0]?.url).toBe('https://a.example/v1/x?api-version=1&q=2')
  expect(seen[0]?.init).toMatchObject({ method: 'POST', body: '{"a":1}' })
  expect(seen[0]?.init.headers).toEqual({
    accept: 'text/plain',
    authorization: 'Bearer k',
    'content-type': 'application/json',
    'x-team': 'b',
  })
})

test('sends no body and no key where there are none', async () => {
  const { http, seen, post } = setUp([ok])

  await post({ method: 'GET', body: undefined })

  expect(seen[0]?.init).toMatchObject({ method: 'GET', body: null })
  expect(seen[0]?.init.headers).not.toHaveProperty('authorization')
  expect(seen[0]?.init).not.toHaveProperty('redirect')
  expect(http.keys).toEqual([])
})

test('sends to the path that a server has for the request', async () => {
  const { seen, post } = setUp([ok], {
    pathOf: ({ path, body }: ApiRequest) => `/models/${JSON.stringify(body)}${path}`,
  })

  await post({ body: 1 })

  expect(seen[0]?.url).toBe('https://a.example/v1/models/1/x')
})

test('sends a form with its files, whose type fetch sets', async () => {
  const { seen, post } = setUp([ok])
  const form = new FormData()
  form.set('file', new File(['hello'], 'hello.txt'))

  await post({ body: form })

  expect(seen[0]?.init.body).toBe(form)
  expect(seen[0]?.init.headers).toEqual({ accept: 'application/json' })
})

describe('retries', () => {
  test.each([408, 409, 429, 500, 503])('status %i is tried twice more', async (status) => {
    const { seen, post } = setUp([failed(status), failed(status), ok])

    expect((await post()).ok).toBe(true)
    expect(seen).toHaveLength(3)
  })

  test.each([
    [400, {}, 1],
    [400, { 'x-should-retry': 'true' }, 2],
    [503, { 'x-should-retry': 'false' }, 1],
    [429, { 'retry-after-ms': '60001' }, 1],
    [499, {}, 1],
  ])('status %i with %j is sent %i times', async (status, headers, times) => {
    const { seen, post } = setUp([failed(status, headers), ok])

    await reasonOf(post())

    expect(seen).toHaveLength(times)
  })

  test('a request says how often, and 0 is once', async () => {
    const { seen, post } = setUp([failed(500), ok])

    expect(await reasonOf(post({ maxRetries: 0 }))).toBeInstanceOf(HttpFailure)
    expect(seen).toHaveLength(1)
  })

  test('a connection that fails is tried again, what can never be sent is not', async () => {
    vi.useFakeTimers()
    const reset = () => Promise.reject(new TypeError('fetch failed'))
    const { seen, post } = setUp([reset, ok])
    const answered = post()
    await vi.advanceTimersByTimeAsync(500)
    expect((await answered).ok).toBe(true)
    expect(seen).toHaveLength(2)
    vi.useRealTimers()

    const refused = new TypeError('fetch failed', { cause: new Error('bad port') })
    const refusing = setUp([() => Promise.reject(refused), ok])
    expect(await reasonOf(refusing.post())).toBe(refused)
    expect(refusing.seen).toHaveLength(1)
  })

  test.each<[Record<string, string>, number]>([
    [{ 'retry-after-ms': '60000' }, 60_000],
    [{ 'retry-after-ms': '' }, 500],
  ])('wait as long as the headers %j ask, or half a second', async (headers, ms) => {
    vi.useFakeTimers()
    const { seen, post } = setUp([failed(503, headers), ok])

    const answered = post()
    await vi.advanceTimersByTimeAsync(ms / 2)
    const early = seen.length
    await vi.advanceTimersByTimeAsync(ms / 2)
    vi.useRealTimers()

    expect((await answered).ok).toBe(true)
    expect([early, seen.length]).toEqual([1, 2])
  })

  test('close the connections of the attempts before', async () => {
    const onCancel = vi.fn<() => void>()
    const busy = () =>
      new Response(new ReadableStream({ cancel: onCancel }), {
        status: 503,
        headers: { 'retry-after-ms': '1' },
      })
    const { post } = setUp([busy, ok])

    await post()

    expect(onCancel).toHaveBeenCalledOnce()
  })

  test('an abort ends the wait for the next attempt', async () => {
    const { seen, post } = setUp([failed(503, { 'retry-after-ms': '50000' }), ok])
    const controller = new AbortController()

    const reason = reasonOf(post({ signal: controller.signal }))
    await expect.poll(() => seen).toHaveLength(1)
    controller.abort('enough')

    expect(await reason).toBe('enough')
  })
})

test('an attempt ends at its time limit, also where fetch ignores its signal', async () => {
  const { post } = setUp([never], { timeoutMs: 5, maxRetries: 0 })

  const fault = await reasonOf(post())

  expect(fault).toBeInstanceOf(TransportFault)
  expect(fault).toMatchObject({ kind: 'timeout', words: 'no answer within 5 ms' })
})

test('an attempt has ten minutes where nothing else is wished for, or all the time', async () => {
  vi.useFakeTimers()
  const limited = setUp([never], { maxRetries: 0 })
  const endless = setUp([never], { timeoutMs: Infinity })

  const fault = reasonOf(limited.post())
  void endless.post()
  await vi.advanceTimersByTimeAsync(600_000)
  const timers = vi.getTimerCount()
  vi.useRealTimers()

  expect(await fault).toMatchObject({ kind: 'timeout', words: 'no answer within 600000 ms' })
  expect(limited.seen[0]?.init.signal?.aborted).toBe(true)
  expect(timers).toBe(0)
})

test('an answer leaves no timer', async () => {
  vi.useFakeTimers()
  const { post } = setUp([ok])

  await post()
  const timers = vi.getTimerCount()
  vi.useRealTimers()

  expect(timers).toBe(0)
})

test('an abort ends an attempt with its reason, also where fetch ignores its signal', async () => {
  const { seen, post } = setUp([never])
  const controller = new AbortController()

  const reason = reasonOf(post({ signal: controller.signal }))
  await expect.poll(() => seen).toHaveLength(1)
  controller.abort('enough')

  expect(await reason).toBe('enough')
  expect(seen[0]?.init.signal?.reason).toBe('enough')
})

test('nothing is sent for a signal that is aborted', async () => {
  const { seen, post } = setUp([ok])

  expect(await reasonOf(post({ signal: AbortSignal.abort('before') }))).toBe('before')
  expect(seen).toEqual([])
})

test.each([
  [{}, 300_000],
  [{ bodyTimeoutMs: 20 }, 20],
])(
  'the body of a failure that never ends is as it is by its time limit: %j',
  async (options, ms) => {
    vi.useFakeTimers()
    const endless = () =>
      new Response(
        new ReadableStream({ start: (body) => body.enqueue(new TextEncoder().encode('gone')) }),
        { status: 404 },
      )
    const { post } = setUp([endless], options)
    let failure: unknown

    const reason = reasonOf(post()).then((told) => (failure = told))
    await vi.advanceTimersByTimeAsync(ms - 1)
    const early = failure
    await vi.advanceTimersByTimeAsync(1)
    vi.useRealTimers()

    expect(early).toBeUndefined()
    expect(await reason).toMatchObject({ status: 404, report: 'gone' })
  },
)

test('a failure whose body breaks has none', async () => {
  const broken = () =>
    new Response(new ReadableStream({ start: (body) => body.error(new Error('cut')) }), {
      status: 404,
    })
  const { post } = setUp([broken])

  expect(await reasonOf(post())).toMatchObject({ status: 404, report: undefined })
})

test.each([
  ['{"error":{"message":"No."}}', { error: { message: 'No.' } }],
  ['gone', 'gone'],
  ['', undefined],
])('a failure has its status, its headers and the body %j', async (body, report) => {
  const { post } = setUp([failed(404, { 'x-request-id': 'r' }, body || null)])

  const failure = await reasonOf(post())

  expect(failure).toMatchObject({ status: 404, report })
  expect((failure as HttpFailure).headers?.get('x-request-id')).toBe('r')
})

describe('a function that gives out keys', () => {
  test('is asked before each attempt, and its last key is known', async () => {
    let count = 0
    const apiKey = async () => `key-${++count}`
    const { http, seen, post } = setUp([failed(503), ok], {
      apiKey,
      authorize: (key: string) => ({ 'api-key': key }),
    })

    expect(http.keys).toEqual([])
    await post()

    expect(seen.map(({ init }) => new Headers(init.headers).get('api-key'))).toEqual([
      'key-1',
      'key-2',
    ])
    expect(http.keys).toEqual(['key-2'])
  })

  test('that fails is a failure of credentials, without its words', async () => {
    const { seen, post } = setUp([ok], { apiKey: async () => Promise.reject(new Error('secret')) })

    const fault = await reasonOf(post())

    expect(fault).toMatchObject({ kind: 'auth', cause: undefined })
    expect(seen).toEqual([])
  })

  test('may fail with an error of the provider, which stays as it is', async () => {
    const error = new ProviderError('no', { kind: 'timeout', provider: 'acme' })
    const { post } = setUp([ok], { apiKey: () => Promise.reject(error) })

    expect(await reasonOf(post())).toBe(error)
  })
})

test('a key in a header of its own does not follow a redirect', async () => {
  const { seen, post } = setUp([failed(307)], { followRedirects: false })

  expect(await reasonOf(post())).toMatchObject({ status: 307 })
  expect(seen[0]?.init.redirect).toBe('manual')
})
