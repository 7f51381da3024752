import type { InjectionSignal } from './injection-signal.ts'
import { signalsOf, words } from './injection-signal.ts'

const make = signalsOf('leak', 'en')
const tell = words(
  "reveal|show|print|output|repeat|display|tell me|give me|share|leak|disclose|dump|recite|write out|write down|provide|return|spell ?check|translate|summari[sz]e|rephrase|paraphrase|copy|paste|list|reproduce|echo|what's|what is|what are|what was|what were|(?:need|want|like) to (?:see|know|view|read|have)|let me (?:see|read)",
)
const askedFor = words(
  "reveal|print|output|repeat|display|tell me|give me|share|recite|list|reproduce|copy|dump|show me|echo|what's|what is|what are|which",
)
const orders =
  'prompts?|instructions?|messages?|directives?|configurations?|rules|guidelines|initiali[sz]ation string|preprompt|settings'

/** Attempts to read the confidential instructions of the model, in English. */
export const leakSignals: readonly InjectionSignal[] = [
  make(
    0.7,
    [
      tell,
      `(?<!\\ban? )${words(
        `(?:system|initial|original|starting|hidden|secret|internal|developer|base|core|confidential|previous|prior|earlier|exact|above) (?:system )?(?:${orders})`,
      )}`,
    ],
    { within: 20 },
  ),
  make(
    0.7,
    [
      tell,
      words('your'),
      `${words('(?:prompts?|instructions?|directives?|preprompt|programming|guidelines|rules)')}(?! (?:for|on|about) (?:the |a |an |how to )?[a-z]{3,20}ing\\b)`,
    ],
    { within: 12 },
  ),
  make(
    0.7,
    [
      askedFor,
      words('prompts?|instructions|rules|directives|configuration|guidelines|messages?|sequence'),
      words(
        'you (?:were|are|have been) (?:given|initiali[sz]ed|configured|set up|started|operating)|were you (?:given|initiali[sz]ed|configured|told|set up)|do you (?:follow|operate under|obey)|you operate under|that (?:defines?|governs?|controls?|shapes?) (?:you|your)',
      ),
    ],
    { within: 12 },
  ),
  make(
    0.55,
    [
      askedFor,
      words(
        'your (?:context window|system-level|underlying|setup|initiali[sz]ation|configuration|internal)|initiali[sz]ation (?:prompt|sequence|instructions|message)|contents? of your (?:context|memory|prompt)|text (?:that )?(?:appears|comes|is written) (?:before|above)',
      ),
    ],
    { within: 16 },
  ),
  make(
    0.6,
    [
      askedFor,
      words('everything|all|anything|the text|words|content|information|lines|whatever'),
      words(
        '(?:in|of|from) your (?:context|prompt|memory|system|instructions|initialization)|you (?:were|have been) (?:given|told|instructed|provided|initiali[sz]ed) (?:with|before|at|by|in)|before (?:this|my|the (?:first|user))|(?:preceding|precedes|preceded) (?:this|my)',
      ),
    ],
    { within: 24 },
  ),
  make(
    0.7,
    [
      words('repeat|print|output|copy|recite|echo|reveal|translate|display|say|write|show|show me'),
      words('words?|text|instructions?|prompts?|content|everything|anything|all'),
      words(
        'above(?! into (?:an? |bullet))|before this|at the (?:beginning|start|top)|were given|have been given|so far|prior to this|preceding this|from the (?:beginning|start)',
      ),
    ],
    { within: 16 },
  ),
  make(
    0.7,
    words(
      'what (?:were|are|was|have) you (?:been )?(?:told|instructed|programmed|given|asked|ordered|forbidden|not supposed|not allowed|not permitted)|what (?:can|could|must|should) you not (?:tell|say|reveal)',
    ),
  ),
  make(
    0.7,
    '["\'\\u2018\\u201c](?:my (?:system |initial |original )?(?:instructions|prompt|rules|guidelines) (?:are|is|were|was|say)|i (?:was|am|have been) (?:instructed|told|programmed|given)|the instructions so far)',
  ),
  make(
    0.7,
    [
      '\\b(?:console\\.log|print|println|printf|echo|return|alert|puts|log|cat|dump|eval)\\b',
      '\\b(?:system|initial|base|hidden|pre|developer)_?-?(?:prompt|instructions?|message)\\b',
    ],
    { within: 6 },
  ),
  make(
    0.7,
    words(
      '(?:initiali[sz]ation|system|hidden|secret) (?:string|prompt|instructions?) (?:verbatim|word for word|exactly|immediately|in full|for (?:debug|audit|test|security|quality))|output initiali[sz]ation',
    ),
  ),
  make(
    0.5,
    words(
      "(?:your|the ai's?) (?:secret|private|master|admin|administrator) (?:key|password|code|token|phrase|passphrase|credentials)s?",
    ),
  ),
  make(
    0.5,
    [
      words(
        "(?:confirm|provide|share|reveal|tell me|give me|what is|what's|send me|output|disclose)(?: me)? (?:the|your|all|users?'?)",
      ),
      words('passwords?|passcode|credentials|secret key|bank balances?'),
    ],
    { within: 24 },
  ),
  make(
    0.35,
    words(
      "user'?s? (?:live|lives|email address|home address|password|personal (?:data|information|details)|phone number|bank)",
    ),
  ),
]
