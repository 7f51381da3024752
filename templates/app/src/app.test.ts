import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { memoryStore } from '@lamella/core'
import { chatReader } from '@lamella/serve/client'
import type { ScriptedStep } from '@lamella/testing'
import { callFunction, scriptedClient } from '@lamella/testing'
import { supportAgent } from './agent.ts'
import { memoryOrders } from './orders.ts'
import { supportChats, supportService } from './service.ts'
import { standIn } from './stand-in.ts'
import { newVisitor } from './visitor.ts'

const secret = 'a secret for tests'
const url = 'https://shop.example/chat'

/** Creates the service with a scripted model, and pages for its visitors. */
function app(...steps: ScriptedStep[]) {
  const orders = memoryOrders()
  const client = scriptedClient(steps)
  const chats = supportChats(supportAgent({ client, store: memoryStore(), orders }), secret)
  const service = supportService(chats, secret)
  const visitor = () => newVisitor(secret).split(';')[0]!
  const page = (cookie = visitor()) =>
    chatReader({
      url,
      chat: 'c1',
      headers: { cookie },
      fetch: (address, init) => service(new Request(address, init)),
    })
  return { orders, client, chats, service, visitor, page }
}

const refund = (euros: number) => callFunction('refund_order', { order: 'A-7', euros })

describe('a chat', () => {
  it('is kept, and belongs to its visitor', async () => {
    const { page, visitor, client } = app('Hello.', 'Hello again.', 'Hello, stranger.')
    const ada = visitor()

    await page(ada).send('Hi')
    const later = page(ada)
    await later.load()
    await later.send('Hi again')
    await page().send('Hi')

    assert.equal(later.state.messages.length, 4)
    assert.deepEqual(
      client.requests.map(({ messages }) => messages.length),
      [1, 3, 1],
    )
  })

  it('reads what a visitor says during an answer', async () => {
    const { page, orders, client } = app(callFunction('list_orders', {}), 'A teapot.', 'A tea set.')
    const listed = orders.of.bind(orders)
    const chat = page()
    let joined: Promise<boolean> | undefined
    orders.of = async (customer) => {
      joined = chat.send('Only the last one, please.')
      // Gives the message time to arrive while the tool is running.
      for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
      return listed(customer)
    }

    await chat.send('What have I ordered?')

    assert.equal(await joined, true)
    assert.match(JSON.stringify(client.requests.at(-1)!.messages), /Only the last one/)
    assert.deepEqual(chat.state.waiting, [])
  })

  it('is refused to visitors whose cookie we did not sign', async () => {
    const { page, client } = app('Hello.')
    const forged = page(`visitor=${crypto.randomUUID()}.${'x'.repeat(43)}`)

    await forged.send('Hi')

    assert.equal(forged.state.code, 'unauthorized')
    assert.equal(client.requests.length, 0)
  })
})

describe('a refund', () => {
  it('of a small sum is approved by the customer', async () => {
    const { page, orders } = app(refund(50), 'You have your money back.')
    const chat = page()

    await chat.send('Refund me.')
    const [request] = chat.state.pending
    await chat.answer({ [request!.id]: true })

    assert.equal(orders.refunds.length, 1)
    assert.equal(chat.state.messages.at(-1)?.contents[0]?.text, 'You have your money back.')
  })

  it('of a large sum can only be approved by the shop', async () => {
    const { page, orders, chats, visitor } = app(refund(500), 'You have your money back.')
    const cookie = visitor()
    const chat = page(cookie)

    await chat.send('Refund me.')
    const [request] = chat.state.pending
    await chat.answer({ [request!.id]: true })
    const refused = [chat.state.code, orders.refunds.length]
    // A page for employees would call this, once they have signed in.
    const principal = /visitor=([\w-]{36})/.exec(cookie)![1]!
    await chats.answer(
      { principal, chat: 'c1' },
      { [request!.id]: true },
      { data: { customer: principal } },
    )

    assert.deepEqual(refused, ['answer_forbidden', 0])
    assert.deepEqual(orders.refunds, [{ customer: principal, order: 'A-7', euros: 500 }])
  })

  it('of an order that is not the customer’s pays nothing', async () => {
    const stolen = callFunction('refund_order', { order: 'B-1', euros: 5 })
    const { page, orders } = app(stolen, 'There is no such order.')
    const chat = page()

    await chat.send('Refund me.')
    await chat.answer({ [chat.state.pending[0]!.id]: true })

    assert.deepEqual(orders.refunds, [])
  })
})

describe('the page', () => {
  for (const path of ['/', '/page.css', '/page.js', '/reader/client.js']) {
    it(`has ${path}`, async () => {
      const { service } = app()
      const response = await service(new Request(new URL(path, url)))

      assert.equal(response.status, 200)
      assert.equal(response.headers.has('set-cookie'), path === '/')
    })
  }

  it('has nothing else', async () => {
    const { service } = app()
    const { status } = await service(new Request(new URL('/package.json', url)))

    assert.equal(status, 404)
  })

  it('can be tried without a key', async () => {
    const client = standIn(0)
    const { text } = await client.getResponse('Hi')

    assert.match(text, /refund/i)
  })
})
