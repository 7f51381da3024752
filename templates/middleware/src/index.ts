export { yourMiddleware } from './your-middleware.ts'
export type { YourMiddlewareEvent, YourMiddlewareOptions } from './your-middleware.ts'
