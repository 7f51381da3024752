export { lamellaMiddleware } from './lamella-middleware.ts'
export type { LamellaMiddlewareOptions, RunOwner } from './lamella-middleware.ts'
