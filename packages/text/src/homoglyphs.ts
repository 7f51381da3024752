/** Letters that look like Latin ones, by the letter that they look like. */
const lookalikes: Readonly<Record<string, string>> = {
  a: 'аαɑ',
  b: 'ЬЪƄ',
  c: 'сϲ',
  d: 'ԁɗ',
  e: 'еҽεє',
  g: 'ɡց',
  h: 'һհ',
  i: 'іιıɩ',
  j: 'јϳ',
  k: 'кκҝ',
  l: 'ӏǀӀ',
  m: 'м',
  n: 'ոп',
  o: 'оοօσ',
  p: 'рρ',
  q: 'ԛզ',
  r: 'гѓ',
  s: 'ѕʂ',
  t: 'тτ',
  u: 'υսᴜ',
  v: 'νѵ',
  w: 'ԝωѡ',
  x: 'хχ',
  y: 'уγүყ',
  z: 'ᴢʐ',
  A: 'АΑ',
  B: 'ВΒ',
  C: 'СϹ',
  E: 'ЕΕ',
  H: 'НΗ',
  I: 'ІΙ',
  J: 'Ј',
  K: 'КΚ',
  M: 'МΜ',
  N: 'Ν',
  O: 'ОΟՕ',
  P: 'РΡ',
  S: 'ЅՏ',
  T: 'ТΤ',
  V: 'Ѵ',
  W: 'Ԝ',
  X: 'ХΧ',
  Y: 'ҮΥУ',
  Z: 'Ζ',
}

/** Letters of other scripts that look like Latin ones; each is one UTF-16 unit, as is what it stands for. */
export const homoglyphs: ReadonlyMap<string, string> = /* @__PURE__ */ homoglyphMap()

function homoglyphMap(): Map<string, string> {
  return new Map(
    Object.entries(lookalikes).flatMap(([latin, others]) =>
      Array.from(others, (other): [string, string] => [other, latin]),
    ),
  )
}

const smallCapitals = 'ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘꞯʀꜱᴛᴜᴠᴡxʏᴢ'

/** Stylised Latin letters that Unicode does not call compatible with the plain ones. */
export const stylised: ReadonlyMap<string, string> = /* @__PURE__ */ stylisedMap()

function stylisedMap(): Map<string, string> {
  return new Map(
    Array.from(smallCapitals).flatMap((small, index): [string, string][] => {
      const plain = String.fromCharCode(0x61 + index)
      const capital = plain.toUpperCase()
      return [
        [small, plain],
        [String.fromCodePoint(0x1f150 + index), capital],
        [String.fromCodePoint(0x1f170 + index), capital],
      ]
    }),
  )
}
