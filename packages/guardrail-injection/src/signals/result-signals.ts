import { dataOrders } from './data-orders.ts'
import type { InjectionSignal } from './injection-signal.ts'
import { signalsOf, words } from './injection-signal.ts'

const toolAbuse = signalsOf('tool-abuse', 'en')
const exfiltration = signalsOf('exfiltration', 'en')

/** An order: at the beginning of a sentence or a clause, not what somebody does or did. */
const order = (verbs: string): string =>
  `(?:^|\\. |[!?:;,\\n"'(>*-] ?|\\b(?:please|also|then|must|now|and|immediately|kindly|to|should|first) )(?:${verbs})\\b`
const move =
  'send|forward|e-?mail|mail|post|upload|submit|transmit|deliver|share|copy|report|export|dm|message|text|pass|hand over|cc|bcc'
const send = `${order(move)}(?! \\/)`
const held =
  "(?:the |this |their |his |her |your |all |any |every |each |a copy of |copies of ){0,4}(?:(?:user|customer|client|owner|account holder)(?:'s|s'|s)? [a-z]{3,20}|conversation|chat|dialogue|inbox|mailbox|(?:e-?)?mails|messages|contacts|contact list|address book|calendar|history|credentials|documents you|files you|records|personal (?:data|details|information)|results? (?:of|from) (?:this|your|all)|everything|findings|session)"
const address =
  '(?:https?:\\/\\/|www\\.|[\\w.+-]{1,40}@[\\w-]{1,40}\\.[a-z]{2,}|\\+?\\d[\\d ().-]{7,16}\\d|[a-z]{2}\\d{2}(?: ?[a-z0-9]{4}){3}|0x[0-9a-f]{8})'

const handed = [
  'the|this|that|these|those|it|them|all|any|every|everything|each|my|his|her|its|their|your|our|what|whatever|with',
  'money|funds|some|half|copies|results|details',
  'an?\\s(?:copy|list|summary|bank|transaction|transfer|payment|transcript|report|screenshot|dump|backup)',
].join('|')
/** Things that readers of any page are asked to hand in, publish or pay. */
const ordinary = [
  'your(?!\\s(?:contacts?|address book|contact list|findings|answers?|results?|summary|instructions|prompt|context|memory|output|notes|history|replies|reply|conversation)\\b)',
  'signed|completed|filled|us|forms?|applications?|cv|resume|portfolio|entries|proposals?|abstracts?|manuscripts?|translations?|contributions?',
  'questions?|feedback|comments?|suggestions?|ideas|enquir(?:y|ies)|complaints?|claims?|damage|photos?|images?|pictures?|a link to',
  'bugs?|issues?|problems?|errors?|side effects|behaviou?r|abuse|violations?|incidents?|concerns?|spam|patch|patches|pull requests?|vulnerabilit(?:y|ies)',
  'requests?|json|body|payload|headers?|events|logs?|usage|coverage|metrics|traces?|telemetry|docs',
  'orders?|receipts?|tickets?|parcels?|items?|cheques?|checks?|donations?|gifts?|total amount|amount due|invoice amount|outstanding',
].join('|')
/** Sums and forms that are due by a day, or paid on a page, as invoices and offices say it. */
const due =
  '(?<=\\b(?:pay|transfer|wire|deposit|remit|submit|return))\\s(?:(?:[^.!?\\n]|\\.\\d){1,90}\\s(?:within\\s\\w{1,8}\\s(?:days?|weeks?|months?)|(?:by|until)\\s(?:the\\s)?(?:\\d|end\\sof|mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec))|(?:[^.!?\\n]|\\.\\d){1,30}\\s(?:at|via|on)\\s(?:https?:|www))'
/**
 * A line or a sentence that begins with an order to hand something over, and not what readers of every page are
 * asked for.
 */
const handOver = [
  `(?:^|\\.\\s|[!?:;"'(>*\\n-]\\s?|\\b(?:please|also|now|immediately|kindly|(?:you|assistant|ai|agent|model|bot) (?:should|must|shall|has to)|first,?|then)\\s`,
  '|\\b(?:summari[sz]e|read|collect|gather|find|list|get|search|extract|look up|take)\\s[^.!?\\n]{1,60}\\sand\\s)',
  `(?:${move}|tell|wire|transfer|pay|donate|deposit|remit|move|relay|publish|push|append|reply|respond|leak|return|save)`,
  `(?=\\s(?:(?:${handed})\\b|\\w{1,20}'s\\s|[\\d$\\u20ac\\u00a3]|[\\w.+-]{1,40}@))`,
  `(?!${due}|\\s[^.!?\\n]{0,60},\\sor\\s(?:${move}|publish|call|visit|print)\\b|\\sthe\\s\\w{2,20}\\sat\\s\\+?\\d|\\s(?:\\S{1,20}\\s){0,5}?(?:${ordinary})\\b)`,
].join('')
/** An account, a number, a page or a mailbox, other than those that everybody is to write to. */
const stranger = `(?:${[
  'https?:\\/\\/(?!(?:\\w{1,40}\\.)?(?:localhost|127\\.|192\\.168|10\\.|github|gitlab|npmjs))|www\\.',
  '[\\w-]{2,40}\\.(?:[\\w-]{2,40}\\.)?(?:com|org|net|io|xyz|site|online|ru|cn|example)\\b',
  '(?!(?:no-?reply|support|info|help|contact|sales|jobs|careers|hr|press|security|privacy|abuse|billing|accounting|accounts|finance|legal|loans|claims|insurance|admin|webmaster|postmaster|booking|reservations|events|members|membership|library|reception|help-?desk|survey|noc|feedback|hello|office|returns|orders?|service|team|admissions|editors?|maintainers?|translators|cancel|unsubscribe|conduct)\\b)[\\w.+-]{1,40}@[\\w-]{1,40}\\.[a-z]{2,}',
  '\\+?\\d[\\d ().-]{7,16}\\d|[a-z]{2}\\d{2,20}(?:\\s?[a-z0-9]{4}){2}|0x[0-9a-f]{8}|bc1[a-z0-9]{8}',
  '(?:the\\s|this\\s)?(?:account|iban|wallet|card)(?:\\s(?:number|no\\.?|#))?:?\\s?[a-z]{0,4}\\d[\\d -]{5,20}',
  '(?:all(?: of)?|every|everyone in)\\s(?:the\\s|your\\s|my\\s|their\\s)?(?:contacts?|address book|contact list)\\b',
].join('|')})`
const open = order(
  'go to|visit|open|navigate to|browse to|fetch|load|click(?: on)?|follow|read|call|access|download(?: from)?|retrieve|request|check|look at|use the link',
)
// A page on the reader's own machine is what manuals tell people to open.
const page =
  '(?:https?:\\/\\/|www\\.)(?!localhost|127\\.|192\\.168|10\\.)[^\\s"\'<>]{1,200}|\\b[\\w-]{2,40}\\.(?:[\\w-]{2,40}\\.)?(?:com|org|net|io|ai|co|info|xyz|site|online|ru|cn|me|app|dev|example|test)\\b'
const first = words(
  'before (?:you |your )?(?:answer|answering|respond|responding|reply|replying|continue|continuing|proceed|proceeding|finish|finishing|complete|completing|summari[sz]e|summari[sz]ing|do(?:ing)? anything|(?:going|go|carry) on(?=[.,;:!?)]|$| (?:with|to|and|reading)\\b)|any(?:thing| other))|first,? then (?:answer|respond|reply|continue)|in order to (?:answer|continue|complete|finish)|to (?:complete|finish) (?:the|your|this) (?:task|request|answer)',
)

const visit = order(
  'go to|visit|open|navigate to|browse to|fetch|load|click(?: on)?|follow|access|download|retrieve',
)
/** Ends of an order to visit a page: at once, or to do something there or with it. */
const goal = `(?:${[
  ' (?:first|right now|immediately|at once)(?=[.!,;]|$)',
  ' (?:now |first )?and (?:then )?(?:follow [^.!?]{1,30} (?:there|exactly|it (?:gives|contains)|you find)|do (?:what|as|everything)|execute|obey|run it|(?:enter|paste|send|submit|post|report)(?! your| the \\w{2,12} (?:on|in|from) your| the (?:pin|reference|booking|order|meeting)\\b))\\b',
  ' for (?:further|more|your|the (?:next|remaining)|additional|new) (?:instructions|steps|orders|tasks?)\\b',
].join('|')})`

const write = order('send|write|post|text|dm|message|e-?mail|reply|tell')
const saying = words(
  'saying|that says|with the (?:text|subject|body|message|content|words|link|following)|the following (?:message|text|e-?mail|words)',
)

/**
 * Orders that name an address or a recipient, in what a tool returned: an ordinary request where a user
 * says them, and not in a page that somebody else wrote.
 */
export const resultSignals: readonly InjectionSignal[] = [
  ...dataOrders,
  toolAbuse(
    0.6,
    '\\byour (?:new|next|real|actual|updated) (?:task|job|goal|objective|mission)(?: is\\b|:)',
  ),
  exfiltration(0.65, [send, held, words('to|at|via|with'), address], { within: 30 }),
  exfiltration(
    0.6,
    [handOver, `(?:\\b(?:to|at|via|with|into)|(?<=\\b(?:tell|bcc|dm)))\\s${stranger}`],
    {
      within: 60,
      inLines: true,
    },
  ),
  toolAbuse(0.6, [open, page, first], { within: 60 }),
  toolAbuse(0.6, [visit, `(?:${page})${goal}`], { within: 6 }),
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
      `\\b(?:to|with|as|for) (?:${stranger}|["'\\u201c][^\\n"']{3,40}["'\\u201d])`,
    ],
    { within: 40 },
  ),
]
