/** Sender of a request. */
export interface Principal {
  /** Id of the user. Chats belong to it. */
  readonly id: string
  /** Tenant of the user, for limits, budgets and state of the run. @default none */
  readonly tenant?: string | undefined
}

/** Returns the key under which a store keeps the chats of a principal. */
export function placeOf({ id, tenant }: Principal): string {
  return JSON.stringify(tenant === undefined ? [id] : [tenant, id])
}
