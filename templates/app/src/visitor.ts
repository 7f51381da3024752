import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'

/** Creates a signed cookie for a new visitor. Replace it with your sign-in, which must be signed as well. */
export function newVisitor(secret: string): string {
  const id = randomUUID()
  const attributes = 'Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000'
  return `visitor=${id}.${signatureOf(id, secret)}; ${attributes}`
}

/** Returns the id of the visitor who sent a request, or undefined if we did not sign its cookie. */
export function visitorOf(request: Request, secret: string): string | undefined {
  const cookies = request.headers.get('cookie') ?? ''
  const [, id, signature] = /(?:^|; )visitor=([\w-]{36})\.([\w-]{43})/.exec(cookies) ?? []
  if (id === undefined || signature === undefined) return undefined
  const isOurs = timingSafeEqual(Buffer.from(signature), Buffer.from(signatureOf(id, secret)))
  return isOurs ? id : undefined
}

function signatureOf(id: string, secret: string): string {
  return createHmac('sha256', secret).update(id).digest('base64url')
}
