/**
 * Lengths between which growth is measured. Environment variable `GROWTH_CHARS`: the longer one; 160000 for a
 * thorough measurement.
 */
const longest = Number(process.env['GROWTH_CHARS'] ?? 40_000)

/** True for a thorough measurement. */
export const isThorough: boolean = longest > 40_000

/**
 * Measures how the time of some work grows with the length of a text: 1 is linear, 2 is quadratic. Measures again
 * if it seems to grow too fast, because other processes slow it down, and at last with four times the length: a
 * search with a limited look-ahead grows faster until it reaches its limit.
 */
export async function growthExponent(
  work: (text: string) => unknown,
  unit: string,
  chars: number = longest,
): Promise<number> {
  const exponent = await exponentAt(work, unit, chars)
  return exponent <= 1.2 ? exponent : exponentAt(work, unit, 4 * chars)
}

async function exponentAt(
  work: (text: string) => unknown,
  unit: string,
  chars: number,
): Promise<number> {
  const [short, long] = [chars / 8, chars].map((length) => unit.repeat(length / unit.length))
  let [quick, slow] = [0.5, Infinity]
  for (let attempt = 0; attempt < 4; attempt++) {
    // oxlint-disable-next-line no-await-in-loop
    slow = Math.min(slow, await timeOf(work, long!))
    // Too quick to be told from what any call takes.
    if (slow < 20) return 1
    // oxlint-disable-next-line no-await-in-loop
    quick = Math.max(quick, await timeOf(work, short!))
    const exponent = Math.log(slow / quick) / Math.log(8)
    if (exponent <= 1.2) return exponent
  }
  return Math.log(slow / quick) / Math.log(8)
}

async function timeOf(work: (text: string) => unknown, text: string): Promise<number> {
  const before = process.threadCpuUsage()
  await work(text)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/** Pieces of which hostile texts are made by repetition. */
export const hostilePieces: readonly string[] = [
  ...`a 1 . - _ [ ] { } ( ) < > ! " ' , : ; / \\ \` $ % & # @ * = + ? ~ ^ | a. a@ a: {" {"a": "a" "a"b [1, 'a', None, "a"+
  /*a*/ //a /* -- ![ ![a]( ![a][ [a]( <a <img <img= &#97; &amp; %2e %25 \\u0061 \\" ObjectId( a( é а 漢 \u0301 \u200b \u202e`
    .trim()
    .split(/\s+/),
  ' ',
  '\n',
  '\r\n',
  '\t',
  '-\n',
  'x\n',
  'a b ',
  '"a\n',
  '"\n',
  '<a ',
  '<a b="',
  "<a b='",
  '```json\n',
  '```json\n{',
  '{"a":1}\n',
  '[1 ',
  '{} ',
]
