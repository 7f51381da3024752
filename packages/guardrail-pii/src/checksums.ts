/** Returns the digits of a text, without what separates them. */
export function digitsOf(text: string): string {
  let digits = ''
  let start = 0
  for (let at = 0; at <= text.length; at++) {
    const code = text.charCodeAt(at)
    if (code > 47 && code < 58) continue
    if (at > start) digits += text.slice(start, at)
    start = at + 1
  }
  return digits
}

/** The check of payment cards and many other numbers (ISO/IEC 7812-1). */
export function hasLuhn(digits: string): boolean {
  let sum = 0
  for (let at = digits.length - 1, isDouble = false; at >= 0; at--, isDouble = !isDouble) {
    const digit = (digits.charCodeAt(at) - 48) * (isDouble ? 2 : 1)
    sum += digit > 9 ? digit - 9 : digit
  }
  return sum % 10 === 0
}

/** The sum of digits, each times its weight. */
export function weighted(digits: string, weights: readonly number[]): number {
  return weights.reduce((sum, weight, at) => sum + weight * Number(digits[at]), 0)
}

const times = [
  '0123456789',
  '1234067895',
  '2340178956',
  '3401289567',
  '4012395678',
  '5987604321',
  '6598710432',
  '7659821043',
  '8765932104',
  '9876543210',
]
const permuted = [
  '0123456789',
  '1576283094',
  '5803796142',
  '8916043527',
  '9453126870',
  '4286573901',
  '2793806415',
  '7046913258',
]

/** Verhoeff's check, as in Aadhaar numbers. */
export function hasVerhoeff(digits: string): boolean {
  let check = 0
  for (let at = 0; at < digits.length; at++) {
    const digit = digits[digits.length - 1 - at]!
    check = Number(times[check]![Number(permuted[at % 8]![Number(digit)])])
  }
  return check === 0
}

/** ISO 7064 MOD 11,10, as in German and Croatian tax numbers. */
export function hasMod11And10(digits: string): boolean {
  let product = 10
  for (const digit of digits.slice(0, -1)) {
    const sum = (Number(digit) + product) % 10 || 10
    product = (sum * 2) % 11
  }
  return (11 - product) % 10 === Number(digits.at(-1))
}

/** Whether the digits of a date, as `yymmdd`, may be one. */
export function isDate(year: string, month: string, day: string): boolean {
  const date = new Date(Date.UTC(2000 + Number(year), Number(month) - 1, Number(day)))
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}
