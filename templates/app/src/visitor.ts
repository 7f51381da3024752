import { createHmac, randomUUID, timingSafeEqual } from 'node:crypto'

/** Makes the cookie of a new visitor. Put your sign-in in its place; what counts is the signature. */
export function newVisitor(secret: string): string {
  const id = randomUUID()
  const attributes = 'Path=/; HttpOnly; SameSite=Lax; Max-Age=31536000'
  return `visitor=${id}.${signatureOf(id, secret)}; ${attributes}`
}

/** The id of the visitor who sends a request, if its cookie is one that we have signed. */
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
