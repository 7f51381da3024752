/** The words for "my" of a language: those before a noun or its attribute, and those behind one. */
export interface OwnWords {
  readonly before?: string
  readonly behind?: string
}

/**
 * Words for "my" and for the user's own earlier message: to ignore that is a correction, no injection. To ignore
 * instructions still is one.
 */
export const ownWords: Readonly<Record<string, OwnWords>> = {
  es: { before: '\\bmis? ' },
  fr: { before: '\\bm(?:on|a|es) ' },
  de: { before: '\\bmeine?[nrms]? ' },
  it: { before: '\\bmi(?:o|a|e|ei) ' },
  pt: { before: '\\b(?:meu|minha)s? ' },
  nl: { before: '\\bmijn ' },
  sv: { before: '\\bmi(?:n|tt|na) ' },
  pl: { before: '\\bmo(?:j|ja|je|jego|jej|ich) ' },
  tr: { behind: '[iu\\u0131]?m[iu\\u0131]?\\b' },
  vi: { behind: ' (?:truoc )?cua (?:toi|minh)\\b' },
  id: { behind: '(?:ku|an saya| saya)\\b' },
  tl: { before: '\\baking ', behind: ' kong?\\b' },
  ru: { before: 'мо(?:и|я|е|ю|его|их|еи|ем) ' },
  uk: { before: 'м(?:іи|оя|оє|ою|ої|ого|ої) ' },
  ar: { behind: '\\S{0,3}ي(?![\\u0600-\\u06ff])' },
  fa: { behind: '\\S{0,2} من(?![\\u0600-\\u06ff])' },
  he: { behind: '\\S{0,3} שלי' },
  hi: { before: 'मेर[ेीा] ' },
  bn: { before: 'আমার ' },
  th: { behind: 'ของ(?:ฉัน|ผม|ดิฉัน)' },
  zh: { before: '我的?' },
  ja: { before: '(?:私|僕|俺|わたし)の' },
  ko: { before: '(?:제|내|나의|저의) ' },
  da: { before: '\\bmi(?:n|t|ne) ' },
  no: { before: '\\bmi(?:n|tt|ne) ', behind: '\\w{0,3} mi(?:n|tt|ne)\\b' },
  fi: { before: '\\bminun ', behind: '\\w{0,4}ni\\b' },
  cs: { before: '\\bm(?:oji?|uj|ou|oje|eho|ych) ' },
  sk: { before: '\\bmo(?:j|ju|ja|je|jho|jich) ' },
  hu: { behind: '\\w{0,2}[aeo]m(?:et|at|ot)?\\b' },
  ro: { behind: '\\w{0,4} m(?:eu|ea|ele|ei)\\b' },
  el: { behind: '\\S{0,3} μου(?![\\u0370-\\u03ff])' },
  bg: { before: 'мо(?:ето|ят|ята|ите) ', behind: '\\S{0,3} ми ' },
}
