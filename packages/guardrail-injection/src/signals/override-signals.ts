import type { InjectionSignal } from './injection-signal.ts'
import { signalsOf, words } from './injection-signal.ts'

const ignore =
  "ignore|ignoring|disregard|disregarding|forget|neglect|bypass|override|overrides|overriding|(?:do not|don't|dont|stop|never|no longer|not) (?:follow|following|obey|obeying|listen to|pay attention to|adhere to)|pay no attention to"
const drop = words(
  `${ignore}|overlook|skip|discard|dismiss|omit|set aside|throw out|throw away|cancel|erase|abandon|drop`,
)
// Who speaks of his own words corrects himself.
const earlier = `(?<!\\bmy )${words(
  'previous|previously|prior|above|earlier|preceding|foregoing|former|initial|original|past|before|first|old|last',
)}`
const orders = words(
  'instruct|instruction|instructions|instructed|instructional|directions|directives?|prompts?|prompting|rules|guidelines|orders|commands|constraints|restrictions|limitations|programming|training|safeguards|policy|policies|protocols?',
)
const said = words(
  'instruct|instruction|instructions|instructed|directions?|directives?|prompts?|prompting|rules?|guidelines?|orders|commands?|constraints?|restrictions?|limitations?|programming|training|context|text|messages?|tasks?|requests?|conversations?|content|input|statements|assignments?|information|knowledge|data|responses?|things',
)
// Of a table, a file or a mailbox, and not of a conversation.
const things =
  '(?:rows?|columns?|cells?|lines?|entries|records?|values?|versions?|files?|errors?|warnings?|commits?|pages?|drafts?|e-?mails?)\\b'
const make = signalsOf('override', 'en')

/** Attempts to replace the instructions of the model, in English. */
export const overrideSignals: readonly InjectionSignal[] = [
  make(0.85, [words(ignore), earlier, said], { within: 24 }),
  make(0.85, [drop, earlier, orders], { within: 24 }),
  make(
    0.85,
    [
      drop,
      orders,
      words(
        'previously|earlier|above|before|prior|you (?:got|were|have|had|received)|i (?:gave|told)|given',
      ),
    ],
    { within: 24 },
  ),
  make(0.75, [drop, words("your|all|any|openai's|openai|chatgpt's"), orders], { within: 14 }),
  make(0.75, [
    drop,
    words('all|everything|anything|any|what|whatever'),
    words(
      "(?:you|you've|you're|you have|you were|you are|you had) (?:been )?(?:ever )?(?:told|instructed|taught|learned|learnt|given|programmed|know|got|read)(?! about (?!you|my|our|this|th(?:e|is|ese|at) (?:rule|instruction|prompt|system|guideline|conversation|task)))|was (?:said|written|told)|written above|written before",
    ),
  ]),
  make(
    0.6,
    [
      drop,
      words('everything|anything|all|all of it|all of that|all of this'),
      `${words(
        'above|before|previous|previously|prior|earlier|until now|so far|up to now|to your core',
      )}(?! ${things})`,
    ],
    { within: 24 },
  ),
  make(
    0.75,
    [
      words(ignore),
      words('everything|anything|all|all of it|all of that|all of this'),
      words('above|before|previous|previously|prior|earlier|until now|so far|up to now'),
      '(?: and|,|;|:)(?: now| then| just| only| instead| simply| please)? (?:say|reply|tell|print|output|do|give|write|answer|respond|repeat|show|list|act|follow|be|you)\\b',
    ],
    { within: 24 },
  ),
  make(
    0.7,
    `${drop} (?:all )?(?:of )?(?:the )?(?:above|previous|foregoing|preceding)(?: and\\b|[,.;:!]|$)`,
  ),
  make(0.5, `${drop} (?:all|everything)(?: and\\b|[,.;:!]| you\\b)`),
  make(
    0.5,
    [
      '\\bregardless of',
      words('previous|prior|earlier'),
      words('tasks?|instructions?|orders?|rules?|prompts?'),
    ],
    { within: 12 },
  ),
  make(
    0.6,
    '\\b(?:your|the) (?:new|real|actual|true|updated|only|next|revised) (?:instructions?|tasks?|role|goals?|objectives?|directives?|orders?|rules?|prompt|job|purpose|mission)(?: (?:is|are|will be|now)\\b(?! that\\b)|:)(?! ?(?:to )?(?:translate|summari[sz]e|proofread|correct|rewrite|rephrase|compare|sort)\\b)',
  ),
  make(
    0.6,
    '(?:^|[\\n.!?"\'>\\]*#:] ?)(?:new|updated|real|revised|additional) (?:system )?(?:instructions?|directives?|orders?|prompt|rules|commands?)(?: for you)?:',
    { inLines: true },
  ),
  make(
    0.6,
    [
      words('adhere|adheres|stick|listen|obey|pay attention|conform'),
      'to the following (?:instruction|order|command|directive|rule)',
    ],
    { within: 12 },
  ),
  make(
    0.6,
    [
      words('everything|anything|all|all the text|instructions'),
      words('above|before this|before now|so far'),
      words('wrong|false|a joke|a test|a lie|irrelevant|void|no longer'),
    ],
    { within: 20 },
  ),
  make(
    0.5,
    [
      words(
        '(?:end|stop|start|beginning) of (?:the )?(?:system )?(?:prompt|instructions?|system message|user input|untrusted)',
      ),
      '[\\]>*=#-]',
    ],
    { within: 20 },
  ),
  make(
    0.5,
    [
      words('instructions?|rules|guidelines|prompts?|programming|training|restrictions'),
      words('above|before|so far|given (?:earlier|before|previously)|i gave you|they gave you'),
      words("do not|don't|no longer|are void|cancel|superseded|not apply|no more"),
    ],
    { within: 20 },
  ),
  make(
    0.4,
    [
      '\\binstead(?: of that| of this|,)? ?(?:just |simply |only )?(?:print|say|output|respond|reply|answer|write|state|tell)\\b',
      '["\'\\u201c]',
    ],
    { within: 20 },
  ),
  make(
    0.35,
    words(
      "(?:no longer|do not|don't|never) (?:have to |need to |required to |going to )?(?:follow|obey|abide by|adhere to|comply with) (?:openai|the rules|any rules|your|my|any|these|those|its|their)",
    ),
  ),
  make(
    0.45,
    words(
      '(?:instructions?|rules|orders|everything|all) (?:that )?(?:you (?:got|received|were given|have been given|had been given)|i gave you|given to you) (?:before|previously|earlier|until now|so far|prior|in the past)',
    ),
  ),
  // Orders that are said to hold no longer, and those that are to hold in their place.
  make(
    0.7,
    [
      words('previous|prior|above|earlier|preceding|foregoing|former|initial|original|old'),
      words(
        'instructions?|directives?|prompts?|rules|guidelines|orders|commands?|context|messages?',
      ),
      words(
        '(?:is|are)(?: all| now| hereby| therefore)? (?:void|irrelevant|invalid|obsolete|cancell?ed|superseded|revoked|null|no longer (?:valid|relevant|in effect)|out of date|outdated|overridden)',
      ),
    ],
    { within: 12 },
  ),
  make(
    0.7,
    [
      words('treat|consider|regard|accept|view|use'),
      words('this|these|the following'),
      '\\b(?:as )?your (?:primary |new |only |main |real |actual |updated |sole )?(?:operating |system )?(?:prompt|instructions|guidelines|rules|directives|orders|message)\\b',
    ],
    { within: 16 },
  ),
  make(
    0.55,
    words(
      '(?:follow|obey|execute|comply with|act according to|adhere to|act on|carry out) (?:only )?(?:my|these|the|those|this) (?:new|updated|hidden|secret) (?:instructions?|commands?|rules?|orders?|guidelines|directives?)|your (?:new|next|real|only) (?:task|job|instructions|goal|mission) (?:starts?|begins?|follows?)',
    ),
  ),
]
