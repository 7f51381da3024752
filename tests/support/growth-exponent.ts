import { countedWork } from './counted-work.ts'

/** Lengths between which growth is measured. */
const longest = 4000

/** Greatest exponent of linear work: it may be sorted, or grow until a window is full. */
export const linear = 1.3

/**
 * Measures how the work on a text grows with its length: 1 is linear, 2 is quadratic. If it seems to grow too fast,
 * measures again with four times the length, and once more with that: a search with a limited look-ahead grows faster
 * until it reaches its limit. Work is counted, so the answer is the same on every machine.
 */
export async function growthExponent(
  work: (text: string) => unknown,
  unit: string,
  chars: number = longest,
): Promise<number> {
  for (const length of [chars, 4 * chars]) {
    // oxlint-disable-next-line no-await-in-loop
    const exponent = await exponentAt(work, unit, length)
    if (exponent <= linear) return exponent
  }
  return exponentAt(work, unit, 16 * chars)
}

async function exponentAt(
  work: (text: string) => unknown,
  unit: string,
  chars: number,
): Promise<number> {
  const workOf = (length: number) => countedWork(() => work(unit.repeat(length / unit.length)))
  // What is made once, such as a compiled pattern, is no growth.
  await work(unit)
  const few = await workOf(chars / 8)
  const many = await workOf(chars)
  return Math.log(Math.max(many, 1) / Math.max(few, 1)) / Math.log(8)
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
  '../',
  '. ',
  'from a,',
]
