/** An order of a customer. */
export interface Order {
  readonly id: string
  readonly item: string
  readonly euros: number
}

/** Access to the orders of your shop. Implement it with your database. */
export interface Orders {
  /** Lists the orders of a customer. */
  of(customer: string): Promise<readonly Order[]>
  /** Refunds part of an order. */
  refund(customer: string, order: string, euros: number): Promise<void>
}

/** Orders in memory, for tests and first steps: every customer has bought a teapot and a tea set. */
export function memoryOrders(): Orders & { readonly refunds: readonly unknown[] } {
  const refunds: unknown[] = []
  return {
    refunds,
    of: async () => [
      { id: 'A-7', item: 'teapot', euros: 80 },
      { id: 'B-2', item: 'tea set', euros: 500 },
    ],
    refund: async (customer, order, euros) => void refunds.push({ customer, order, euros }),
  }
}
