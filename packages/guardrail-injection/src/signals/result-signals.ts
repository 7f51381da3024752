import type { InjectionSignal } from './injection-signal.ts'
import { signalsOf, words } from './injection-signal.ts'

const toolAbuse = signalsOf('tool-abuse', 'en')
const exfiltration = signalsOf('exfiltration', 'en')

/** An order: at the beginning of a sentence or a clause, not what somebody does or did. */
const order = (verbs: string): string =>
  `(?:^|[.!?:;,\\n"'(>*-] ?|\\b(?:please|also|then|must|now|and|immediately|kindly|to|should|first) )(?:${verbs})\\b`
const send = order(
  'send|forward|e-?mail|mail|post|upload|submit|transmit|deliver|share|copy|report|export|dm|message|text|pass|hand over|cc|bcc',
)
const held =
  "(?:the |this |their |his |her |your |all |any |every |each |a copy of |copies of )*(?:(?:user|customer|client|owner|account holder)(?:'s|s'|s)? [a-z]{3,20}|conversation|chat|dialogue|inbox|mailbox|(?:e-?)?mails|messages|contacts|contact list|address book|calendar|history|credentials|documents you|files you|records|personal (?:data|details|information)|results? (?:of|from) (?:this|your|all)|everything|findings|session)"
const address =
  '(?:https?:\\/\\/|www\\.|[\\w.+-]{1,40}@[\\w-]{1,40}\\.[a-z]{2,}|\\+?\\d[\\d ().-]{7,16}\\d|[a-z]{2}\\d{2}(?: ?[a-z0-9]{4}){3}|0x[0-9a-f]{8})'
const open = order(
  'go to|visit|open|navigate to|browse to|fetch|load|click(?: on)?|follow|read|call|access|download(?: from)?|retrieve|request|check|look at|use the link',
)
// A page on the reader's own machine is what manuals tell people to open.
const page =
  '(?:https?:\\/\\/|www\\.)(?!localhost|127\\.|192\\.168|10\\.)[^\\s"\'<>]{1,200}|\\b[\\w-]{2,40}\\.(?:[\\w-]{2,40}\\.)?(?:com|org|net|io|ai|co|info|xyz|site|online|ru|cn|me|app|dev|example|test)\\b'
const first = words(
  'before (?:you |your )?(?:answer|answering|respond|responding|reply|replying|continue|continuing|proceed|proceeding|finish|finishing|complete|completing|summari[sz]e|summari[sz]ing|do(?:ing)? anything|go(?:ing)? on|carry on|any(?:thing| other))|first,? then (?:answer|respond|reply|continue)|in order to (?:answer|continue|complete|finish)|to (?:complete|finish) (?:the|your|this) (?:task|request|answer)',
)

const write = order('send|write|post|text|dm|message|e-?mail|reply|tell')
const saying = words(
  'saying|that says|with the (?:text|subject|body|message|content|words|link|following)|the following (?:message|text|e-?mail|words)',
)

/**
 * Orders that name an address or a recipient, in what a tool returned: an ordinary request where a user
 * says them, and not in a page that somebody else wrote.
 */
export const resultSignals: readonly InjectionSignal[] = [
  exfiltration(0.65, [send, held, words('to|at|via|with'), address], { within: 30 }),
  toolAbuse(0.6, [open, page, first], { within: 60 }),
  toolAbuse(0.6, [first, open, page], { within: 40 }),
  toolAbuse(0.6, [write, saying], { within: 50 }),
  toolAbuse(0.6, [write, address, saying], { within: 30 }),
  toolAbuse(
    0.6,
    [
      order('add|invite|grant|give|make|set|register'),
      address,
      words(
        'as (?:an? )?(?:admin|administrator|owner|collaborator|editor|member|guest|recipient|forwarding address|participant)|access|permissions?|to (?:the|this|every|all) (?:meeting|event|thread|channel|conversation|calendar)',
      ),
    ],
    { within: 40 },
  ),
  exfiltration(
    0.6,
    [
      order('create|add|set up|enable|make|configure'),
      words(
        '(?:forwarding|redirect|auto-?forward|filter|inbox|mail)(?: \\w{2,12})? (?:rule|filter|address)|auto-?forwarding|webhook',
      ),
      address,
    ],
    { within: 40 },
  ),
  exfiltration(
    0.6,
    [
      order('change|update|replace|set|switch|use|swap'),
      words(
        '(?:iban|bank (?:account|details)|account number|payee|recipient|beneficiary|wallet(?: address)?|recovery (?:e-?mail|address|phone)|password|delivery address|shipping address|reply-to)',
      ),
      `\\b(?:to|with|as|for) (?:${address}|["'\\u201c][^\\n"']{3,40}["'\\u201d])`,
    ],
    { within: 40 },
  ),
]
