/** Bytes as base64. Text is base64 already. */
export function toBase64(data: string | Uint8Array): string {
  if (typeof data === 'string') return data
  let binary = ''
  for (let at = 0; at < data.length; at += 0x8000) {
    binary += String.fromCharCode(...data.subarray(at, at + 0x8000))
  }
  return btoa(binary)
}
