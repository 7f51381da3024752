/**
 * Measures how the time of some work grows with the length of a text: 1 is linear, 2 is quadratic. Measures again
 * what seems to grow too fast, since other work of the machine slows it down.
 */
export function growthExponent(work: (text: string) => unknown, unit: string): number {
  const [short, long] = [20_000, 160_000].map((length) => unit.repeat(length / unit.length))
  let [quick, slow] = [0.5, Infinity]
  for (let attempt = 0; attempt < 5; attempt++) {
    slow = Math.min(slow, timeOf(work, long!))
    quick = Math.max(quick, timeOf(work, short!))
    const exponent = Math.log(slow / quick) / Math.log(8)
    // Too quick to be told from what any call takes.
    if (slow < 20 || exponent <= 1.2) return Math.min(exponent, 1.2)
  }
  return Math.log(slow / quick) / Math.log(8)
}

function timeOf(work: (text: string) => unknown, text: string): number {
  const before = process.threadCpuUsage()
  work(text)
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
