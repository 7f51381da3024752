/** An order of a customer. */
export interface Order {
  readonly id: string
  readonly item: string
  readonly euros: number
}

/** The orders of your shop: put your database in its place. */
export interface Orders {
  /** Lists the orders of a customer. */
  of(customer: string): Promise<readonly Order[]>
  /** Pays a part of an order back. */
  refund(customer: string, order: string, euros: number): Promise<void>
}

/** Orders in memory, for the tests and to begin with: each customer has bought a teapot and a tea set. */
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
