import type { ChatClient, FunctionInvocationContext, KeyValueStore } from '@lamella/core'
import { Agent, jsonSchema, tool } from '@lamella/core'
import type { Orders } from './orders.ts'

/** Dependencies of the agent. Tests pass in their own. */
export interface AgentParts {
  readonly client: ChatClient
  readonly store: KeyValueStore
  readonly orders: Orders
}

/** Creates the agent: its instructions, its tools, and the store that keeps its state between runs. */
export function supportAgent({ client, store, orders }: AgentParts): Agent {
  return new Agent({
    name: 'your-app',
    client,
    store,
    instructions: 'You are the support of a shop. Look orders up before you answer.',
    tools: [listOrders(orders), refundOrder(orders)],
  })
}

function listOrders(orders: Orders) {
  return tool({
    name: 'list_orders',
    description: 'Lists the orders of the customer.',
    readOnly: true,
    async execute(_, context) {
      const list = await orders.of(customerOf(context))
      return list.map(({ id, item, euros }) => `${id}: ${item}, ${euros} euros`).join('\n')
    },
  })
}

function refundOrder(orders: Orders) {
  return tool({
    name: 'refund_order',
    description: 'Refunds an order of the customer.',
    parameters: jsonSchema({
      type: 'object',
      properties: { order: { type: 'string' }, euros: { type: 'number', minimum: 0 } },
      required: ['order', 'euros'],
    }),
    // Pauses the run until somebody approves it. `mayApprove` of the service says who may.
    approval: 'always',
    execute: async (args, context) => {
      const { order, euros } = args as { order: string; euros: number }
      const customer = customerOf(context)
      const known = (await orders.of(customer)).some(({ id }) => id === order)
      if (!known) return `There is no order ${order}.`
      await orders.refund(customer, order, euros)
      return `${euros} euros for order ${order} were paid back.`
    },
  })
}

/** Reads the customer from the signed-in request, never from the model's arguments. */
function customerOf({ run }: FunctionInvocationContext): string {
  return (run.data as { customer: string }).customer
}
