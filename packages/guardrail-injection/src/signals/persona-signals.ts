import type { InjectionSignal } from './injection-signal.ts'
import { signalsOf, words } from './injection-signal.ts'

const persona = signalsOf('persona', 'en')
const rolePlay = signalsOf('role-play', 'en')

const vices =
  'illegal|unethical|immoral|amoral|dangerous|offensive|harmful|violent|explicit|derogatory|hateful|inappropriate'
const bonds =
  'rules?|restrictions?|restricted|limits?|limitations?|guidelines?|filters?|censorship|ethics?|morals?|morality|ethical|laws?|policy|policies|boundary|boundaries|constraints?|confines|programming|safety|norms|principles|shackles|openai'

const secondSelf =
  'normal(?:ly)?|standard|classic|regular|usual|chatgpt|gpt|dan|aim|stan|dude|jailbreak|jailbroken|unfiltered|uncensored|unrestricted|unethical|immoral|amoral|evil|(?:developer|dev|god|opposite|chaos|unlocked|jailbreak) mode|(?:without|no|any) (?:filters?|restrictions|rules|limits|warnings?|censorship)|does not follow|would not refuse|never refuses?|as yourself|in character|alter ego'

/** Attempts to give the model a persona without rules, in English. */
export const personaSignals: readonly InjectionSignal[] = [
  persona(0.9, words('do anything now')),
  persona(
    0.6,
    '\\b(?:named?|called|as|are|is|like|be|the|a|for|of|mode|by|to|and|character|ai|version) "?\\[?DAN\\b|\\bDAN[:\\]\']| DAN (?:mode|can|is|has|will|would|does|and)\\b',
    { cased: true },
  ),
  persona(
    0.6,
    words(
      '(?:unfiltered|amoral|uncensored|unrestricted|unmoderated|unethical|immoral)(?:,| and| or)? (?:and )?(?:completely |totally )?(?:unfiltered|amoral|uncensored|unrestricted|unlimited|unethical|immoral|chatbot|ai|model|language model|assistant|bot|answers?|responses?|persona|version|character|mode|mind)',
    ),
  ),
  persona(
    0.35,
    words('unfiltered|amoral|uncensored|unrestricted|jailbreak|jailbroken|jailbreaked'),
  ),
  persona(
    0.5,
    words(
      'jailbreak(?:ed|ing)? (?:mode|prompts?|chatgpt|gpt|ai|version)|you (?:are|have been|got) jailbroken|for jailbreak',
    ),
  ),
  persona(
    0.55,
    [
      words("no|without|lacks?|zero|not have|n't have|don't have|doesn't have|free of"),
      words(
        'ethical|moral|morals?|legal|ethics?|safety|content|censorship|openai|programming|policy',
      ),
      words(
        'rules?|restrictions?|limits?|limitations?|guidelines?|filters?|boundaries|constraints?|principles|concerns?|considerations?|compass|codes?|standards|policy|policies|whatsoever|warnings?',
      ),
    ],
    { within: 12 },
  ),
  persona(
    0.6,
    [
      words('ai|chatbot|language model|assistant|bot|gpt'),
      words('without|with no|that has no|who has no|free of|free from'),
      words(
        'restrictions?|rules|limits|limitations|filters?|guidelines|ethics|morals|censorship|boundaries|constraints',
      ),
    ],
    { within: 14 },
  ),
  persona(
    0.5,
    [
      words('pretend|imagine|simulate|suppose|act|behave|world'),
      words('you (?:have|had|were under|are under)'),
      words('no|zero|without any'),
      words(
        'restrictions?|limits|limitations?|filters?|rules|guidelines|content polic(?:y|ies)|constraints|censorship',
      ),
    ],
    { within: 14 },
  ),
  persona(
    0.5,
    [
      words(
        "(?:not|isn't|aren't|doesn't|don't|never|no longer|neither)(?: be)? (?:bound|bounded|restricted|limited|constrained|restrained|governed|confined|tied|held back|programmed to follow|subject|obligated|care|cares|caring|follow|follows|comply|complies|obey|obeys|adhere|adheres)",
      ),
      words(bonds),
    ],
    { within: 30 },
  ),
  persona(
    0.5,
    [
      words('freed?|free|broken? free|liberated|released|unbound|escaped?|exempt'),
      words('(?:of|from)'),
      words(
        'restrictions?|restricting|limits?|limitations?|confines|rules|guidelines|policy|policies|ethics|ethical|morals?|filters?|censorship|constraints|shackles|openai|norms|laws|boundaries',
      ),
    ],
    { within: 30 },
  ),
  persona(
    0.35,
    [
      words(
        'without|with no|bypass|bypasses|bypassing|remove|removes|removing|ignore|ignores|ignoring|disregard|disregards|disregarding|breaks?|breaking',
      ),
      words(
        'restrictions?|limitations?|filters?|censorship|content policy|content policies|guidelines|ethics|ethical|morals?|morality|safety|rules',
      ),
    ],
    { within: 14 },
  ),
  persona(
    0.5,
    [
      words('regardless of|no matter|irrespective of|even if|whether'),
      words(
        'illegal|unethical|immoral|dangerous|harmful|reckless|inhumane|offensive|inappropriate|controversial|ethics?|ethical|ethicality|legality|moral|morals|morality|questionable',
      ),
    ],
    { within: 60 },
  ),
  persona(
    0.35,
    words(
      `(?:${vices})(?:,| and| or|, and|, or| and/or|/) ?(?:or |and )?(?:${vices}|inhumane|sexual|discriminatory|toxic|racist)`,
    ),
  ),
  persona(
    0.55,
    words(
      "(?:never|not|n't|cannot|can't|don't|won't|without)(?: ever)? (?:refuse|reject|deny|decline|denies|refuses|refusing|rejecting|denying|declining|say no to|fail to answer)",
    ),
  ),
  persona(
    0.45,
    [
      words(
        "(?:never|not|don't|cannot|can't|avoid|without|stop|no)(?: ever)? (?:say|saying|use|using|include|including|mention|mentioning|add|adding|give|write|contain|start|apologi[sz]e|tell me|respond|provide|have|show|display|output|be)",
      ),
      words(
        "i'm sorry|i am sorry|i cannot|i can't|i can not|i apologi[sz]e|unable to|apology|apologies|disclaimers?|warnings?|as an ai|ai language model|language model|against (?:the )?(?:rules|policy|guidelines)|not (?:appropriate|allowed|possible|able)|refuse|refusal|negative sentences",
      ),
    ],
    { within: 60 },
  ),
  persona(
    0.4,
    words(
      '(?:stay|staying|remain|keep|be|always)(?: fully| always)? in character|(?:break|breaking|out of|breaks) (?:the |your |of )?character|stay (?:a |as )?(?:dan|in dan|jailbroken)',
    ),
  ),
  // Two answers are an ordinary wish. They are a sign where one of them is somebody's without rules.
  persona(0.25, [words('two|both|three'), words('responses|answers|replies|personalities')], {
    within: 20,
  }),
  persona(
    0.6,
    [
      words('two|2|both|three|3|twice'),
      words(
        'responses?|answers?|replies|outputs?|paragraphs?|ways|manners|versions|personalities|personas|times',
      ),
      words(secondSelf),
    ],
    { within: 60 },
  ),
  persona(
    0.55,
    '(?:chatgpt|gpt|classic|jailbreak|normal output|developer mode output)\\\\?\\]?[:)*]?[:)*]?["\'\\u201d]? ?[:\\]]',
  ),
  persona(
    0.35,
    words(
      '(?:god|jailbreak|dan|sudo|unrestricted|evil|opposite|anti|chaos|rebel|freedom|nsfw) mode',
    ),
  ),
  // Phones, browsers and ordinary software have these modes, too.
  persona(
    0.35,
    `${words('(?:developer|dev|admin|debug|simulation) mode')}(?! (?:on|in|of|for|flag|setting|option|menu|switch))`,
  ),
  persona(
    0.25,
    words(
      '(?:hypothetical|fictional|imaginary) (?:story|scenario|world|response|conversation|ai|character|chatbot|universe|language model)|opposite day|alternate (?:universe|reality|world|dimension)|parallel universe',
    ),
  ),
  persona(
    0.25,
    words(
      'openai|chatgpt|chat gpt|gpt-?[34]|language model|anthropic|your (?:creators?|developers?|programm(?:ing|ers)|owners?|core|training data)',
    ),
  ),
  persona(
    0.45,
    [
      words("(?:openai|chatgpt|gpt|anthropic|google|meta)(?:'s|s)?"),
      words('policy|policies|rules|guidelines|restrictions|ethics?|ethical|limitations|censorship'),
    ],
    { within: 12 },
  ),
  persona(
    0.35,
    "\\[(?:insert|your|enter|user|the|put|my|write|type) (?:your |the |my |a )?(?:prompt|question|request|query|text)(?: here| goes here)?\\]|\\[prompt\\]|\\b(?:answer|here is|this is|here's|now) (?:my|the|your) first (?:question|prompt|request|command|task|message)",
  ),
  persona(
    0.4,
    [
      words(
        'answers?|fulfil|fulfill|fulfills|fulfils|obeys?|comply|complies|responds?|follows?|executes?|accepts?|does|do',
      ),
      words('any|anything|every|everything|all|whatever'),
      words(
        'requests?|questions?|prompts?|commands?|instructions?|orders?|queries|i (?:say|ask|tell|want)|asked|told',
      ),
    ],
    { within: 14 },
  ),
  persona(
    0.4,
    [
      words(
        "(?:you|you'll|you will|you must|you have to|you should) (?:lose|gain|start with|be deducted|get|have)",
      ),
      words('tokens?|points|credits|lives'),
    ],
    { within: 30 },
  ),
  persona(
    0.4,
    [
      words('tokens?|points|credits|lives'),
      words('deducted|you die|terminated|cease to exist|punish|punished|punishment'),
    ],
    { within: 50 },
  ),
  persona(
    0.3,
    words(
      'if you understand|if you understood|if you agree|do you understand|to confirm|(?:say|say only|only say|reply with|respond with) "?(?:understood|i understand|ok|okay|yes|confirmed)',
    ),
  ),
  persona(
    0.4,
    words(
      '(?:anyone|everyone|someone|he|she|it|they|you|who|that)(?: can| will| must| should| shall)? (?:always|never) (?:answers?|responds?|reply|replies|obeys?|follows?|gives?|sends?|fulfills?|provides?|says?|tells?|acts?|ignores?)',
    ),
  ),
  persona(
    0.35,
    words(
      '(?:has|have|having|with|are|is|knows|there are|without)(?: absolutely)? (?:no|any|zero) (?:restrictions|filters?|rules|limits|limitations|boundaries|censorship|morals|ethics|inhibitions)',
    ),
  ),
  persona(
    0.4,
    words(
      '(?:sans|devoid of|no regard for|no comprehension of|no concept of|hates? being|hates|lack of|disregard for|indifferent to)(?: any| all| the)? (?:morals?|morality|ethics|ethical|rules|laws|restrictions|guidelines)',
    ),
  ),
  persona(
    0.4,
    words(
      '(?:fully|completely|totally) (?:unlocked|uncensored|unfiltered|unrestricted|uninhibited|jailbroken)|safe mode (?:is )?off|safety (?:is )?(?:off|disabled)|unshackled|uninhibited',
    ),
  ),
  persona(
    0.35,
    words(
      '(?:exact )?opposite of (?:what )?(?:chatgpt|gpt|openai|you|an ai)|(?:evil|dark|rebellious|opposite|corrupted) (?:twin|version|side|counterpart|form|alter ego|trusted confidant)',
    ),
  ),
  persona(
    0.3,
    words('swear words|swearing|profanity|profanities|curse words|vulgar|nsfw|obscene|lewd'),
  ),
  rolePlay(
    0.3,
    words(
      "(?:you're|you are|you'll|you will|you must|you shall)(?: now| going to| about to| always)?(?: to)? (?:be|act|role-?play|pretend|play|take on|immerse|simulate|become|impersonate|respond as|answer as|speak as)|you are now|from (?:now|this (?:point|moment|message|day)) ?(?:on|onward|onwards|forward)",
    ),
  ),
  rolePlay(
    0.2,
    words(
      'act as|act like|acting as|acting like|pretend|pretending|role-?play|role-?playing|simulate|simulates|simulating|simulator|impersonate|impersonating|take on the role|take up the role|take on the persona|play the role|imagine you|imagine that you|persona|pose as|in the role of|alter ego',
    ),
  ),
  rolePlay(
    0.25,
    words(
      '(?:an?|this|the|other|another|fictional|powerful|new|different) (?:ai|chatbot|bot|language model|artificial intelligence|llm|ai model|ai assistant) (?:model|system|language model|character|assistant|personality|named|called|that|who|which|with)',
    ),
  ),
]
