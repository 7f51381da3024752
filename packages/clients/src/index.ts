export { clientFor, namedClients } from './client-for.ts'
export type { ClientFactory, ClientFor, ClientSettings, NamedClientsOptions } from './client-for.ts'
