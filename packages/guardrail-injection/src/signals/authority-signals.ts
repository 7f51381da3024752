import type { InjectionSignal } from './injection-signal.ts'
import { signalsOf, words } from './injection-signal.ts'

const fakeTurn = signalsOf('fake-turn')
const authority = signalsOf('authority', 'en')
const modeTag = signalsOf('authority')
const toolAbuse = signalsOf('tool-abuse', 'en')
const exfiltration = signalsOf('exfiltration', 'en')
const image = signalsOf('exfiltration')

const makers =
  'developers?|creators?|programmers?|admins?|administrators?|owners?|gods?|masters?|makers?|boss|operators?'
const models =
  'ai|ais|gpt|gpt-\\d|chatgpt|ai assistants?|llms?|ai models?|language models?|ai agents?|claude|gemini|copilot|bing|chatbots?'
const modes =
  'system|god|admin|debug|debugging|developer|maintenance|root|sudo|override|verification|diagnostics?|dan|jailbreak|unrestricted|security override|unlocked|privileged|super ?user|training|test'
const checks =
  '(?:system|security|safety|maintenance) (?:reset|upgrade|check|audit|override|update|test|scan)'

/** Text that claims authority over the model, or addresses the model from within a document. */
export const authoritySignals: readonly InjectionSignal[] = [
  fakeTurn(
    0.75,
    '<\\|?(?:im_start|im_end|im_sep|endoftext|eot_id|start_header_id|end_header_id|begin_of_text|endofprompt|fim_prefix)\\|?>|<\\|(?:system|user|assistant|developer)\\|>|\\[\\/?inst\\]|<<\\/?sys>>|<start_of_turn>',
  ),
  fakeTurn(
    0.5,
    '<\\/?(?:system|admin|developer|instructions?|assistant|system[_ -]prompt|system[_ -]message|important|information|user_query|override)>',
  ),
  // Tags and headings that no document has, and that imitate the frame of a conversation.
  fakeTurn(
    0.7,
    '(?:\\[\\[|\\{\\{|<<|=== ?|### ?|--- ?|\\*\\*\\* ?)(?:begin |start |end )?(?:of )?(?:new )?(?:system|admin|developer|root|override)(?:[ _-](?:prompt|message|instructions?|override|note|notice|command|turn))?(?:\\]\\]|\\}\\}|>>| ?===| ?###| ?---| ?\\*\\*\\*)',
  ),
  fakeTurn(
    0.7,
    '<\\/(?:user|user_input|user_message|document|context|input|data|tool_result|tool_output|search_results?|untrusted|email|content)> ?<(?:system|admin|developer|assistant|instructions?|new_instructions?|system_prompt|system_message|important)\\b',
  ),
  fakeTurn(
    0.5,
    '["\'\\u201c]?role["\'\\u201d]? ?[:=] ?["\'\\u201c](?:system|developer)["\'\\u201d] ?, ?["\'\\u201c]?content["\'\\u201d]? ?[:=]',
  ),
  fakeTurn(
    0.6,
    '<(?:new|updated|real|hidden|secret|priority|admin|system|override|developer)[ _-](?:instructions?|prompt|message|command|directive|rules?|turn)\\b[^<>]?[^<>]?[^<>]?[^<>]?>|\\[(?:system|admin|developer|root)\\][ :]|\\{(?:system|admin|developer)\\}',
  ),
  fakeTurn(
    0.4,
    '(?:^|\\n)[#*> \\[<-]?[#*> \\[<-]?[#*> \\[<-]?(?:system|assistant|developer|admin|administrator)(?: (?:message|prompt|note|update|notice|instructions?|override|command))?[\\])>]? ?(?:##|:(?! ?["\'`{\\[]))',
    { inLines: true },
  ),
  fakeTurn(
    0.5,
    '\\b(?:SYSTEM|ADMIN|ASSISTANT|DEVELOPER|ROOT)(?: (?:MESSAGE|NOTICE|PROMPT|NOTE|ALERT|UPDATE))?:(?! ?["\'`{\\[])',
    { cased: true },
  ),
  fakeTurn(
    0.6,
    '[\\[(<*#"{-] ?(?:admin|administrator|system|developer|owner|operator|root|security|moderator)[ _-](?:request|override|message|note|commands?|instructions?|notice|alert|update|prompt)\\b ?[\\])}>*:#-]',
  ),
  fakeTurn(
    0.5,
    '<end of (?:session|document|conversation|context|input|prompt|text)>|\\[(?:end of|user left|conversation (?:over|reset|ended))\\b|\\b(?:new|reset|clear|restart) (?:session|conversation|context|chat)[\\]>:]',
  ),
  modeTag(0.75, `[<\\[({\\\\/](?:\\w\\w\\w\\w?\\w?\\w?\\w? )?(?:${modes})[ _-]mode\\b`),
  // Ordinary software has a debug mode, too: alone it is not enough.
  authority(
    0.45,
    [
      words(
        'enter|entering|entered|activated?|activating|enabled?|enabling|initiated?|initiating|switch(?:ed|ing)? (?:to|into)|go (?:to|into)|going (?:to|into)|now in|running in|start|starting|turn(?:ed|ing)? on|simulate|simulating|unlock|unlocked',
      ),
      `${words(`(?:${modes})(?: override)? mode`)}(?! (?:on|in|of|for|flag|setting|option|menu|switch)\\b)`,
    ],
    { within: 24 },
  ),
  authority(
    0.6,
    `\\b(?:${modes})[ _]mode ?(?:activated|enabled|engaged|initiated|unlocked|:? ?on\\b(?! (?:my|your|our|the|an?)\\b)|override|["']? ?(?:output|=|:))`,
  ),
  authority(0.35, words('(?:override|god|sudo|admin|privileged|root) mode')),
  authority(
    0.55,
    words(
      `(?:i am|i'm|this is|as|listen to|obey)(?: now)? (?:your|you're|the ai's?|openai's?|chatgpt's?)(?: only| new| true| real)? (?:${makers})`,
    ),
  ),
  authority(
    0.5,
    words(
      "(?:i am|i'm)(?: actually)? (?:god|the (?:president|admin|administrator|system administrator|developer|ceo|owner))",
    ),
  ),
  authority(
    0.3,
    [
      words("i am|i'm"),
      words('developer|engineer|administrator|admin|employee|researcher|operator'),
      words('at openai|from openai|at anthropic|from anthropic|running|performing|conducting'),
    ],
    { within: 12 },
  ),
  authority(
    0.5,
    [
      words('as an? (?:ai|language model|large language model|ai model|assistant)'),
      words('(?:developed|created|made|built|trained|designed|programmed) by'),
    ],
    { within: 16 },
  ),
  authority(
    0.35,
    `["'\\u201c\\u2018]${checks}["'\\u201d\\u2019]|\\b(?:running|run|initiating|performing|conducting|doing|starting) (?:a|an|the) ["'\\u201c\\u2018]?${checks}`,
  ),
  authority(
    0.6,
    [
      words('developer|system|admin|administrator|security|training|safety|safeguard'),
      '\\boverride ?[:>!]',
    ],
    { within: 16 },
  ),
  authority(0.6, words('(?:security|admin|law enforcement|emergency) override')),
  toolAbuse(
    0.5,
    [
      words('messages?|notes?|notice|instructions?|reminder|attention'),
      `(?: to| for|:|,|!) (?:to )?(?:you,? ?(?:the )?|the |any |all |an )?(?:${models})\\b`,
    ],
    { within: 24 },
  ),
  toolAbuse(0.5, [words("if you are|if you're"), words(models)], { within: 10 }),
  toolAbuse(
    0.5,
    [
      '\\bbefore you (?:can |may |will |do |start |continue )?(?:solve|complete|do|finish|answer|proceed|continue|start)',
      words('task|request|question|job'),
    ],
    { within: 20 },
  ),
  toolAbuse(
    0.4,
    words(
      '(?:task|instructions?|request|question)s? (?:that )?(?:i|the user) (?:gave|have given|asked)(?: to)? you',
    ),
  ),
  toolAbuse(
    0.4,
    [
      words("if (?:you are |you're )?(?:questioned|asked|challenged|confronted)"),
      words("report|say|respond|tell|claim|state|answer|deny|lie|just|do not|don't"),
    ],
    { within: 20 },
  ),
  toolAbuse(
    0.5,
    words(
      "(?:do not|don't|never|without) (?:tell|inform|alert|notify|telling|informing|alerting|notifying) (?:the )?(?:user|human|owner|customer|anyone)",
    ),
  ),
  toolAbuse(
    0.75,
    [
      words('ignore|ignoring|disregard|forget'),
      words(
        'rest|documents?|functions?|code|resume|articles?|emails?|text|tables?|question|page|content|context|image|data|above|paper|story|translation|instructions?|them|this|that|all|everything',
      ),
      '(?: and|,|, and|,? but|,? then|;)(?: just| only| instead| simply)? (?:state|say|print|output|respond|reply|answer|tell|write|admit|focus|claim|translate|follow|do|give|repeat|spell)\\b',
    ],
    { within: 12 },
  ),
  toolAbuse(
    0.5,
    words(
      '(?:focus|concentrate|report|answer|act) (?:only|exclusively|solely) on (?:the )?(?:following|this|information in|text in)',
    ),
  ),
  exfiltration(0.6, [
    words('send|forward|post|upload|transmit|exfiltrate|e-?mail|submit|leak|append|copy'),
    words(
      'passwords?|credentials|secrets?|api keys?|private keys?|access tokens?|chat history|conversation|conversation history|system prompt|environment variables?|(?:the|your|their|all|session) cookies|session tokens?',
    ),
    '\\b(?:to|at|via|into|on) (?:https?:|www\\.|this (?:url|address|server|link|e-?mail)|the following|my |an? (?:url|external|remote)|\\S\\S?\\S?\\S?\\S?\\S?\\S?\\S?\\S?\\S?\\S?\\S?@)',
  ]),
  image(
    0.6,
    [
      '!\\[',
      '\\]\\(https?:\\/\\/',
      '[?=/](?:\\{|%7b|\\$\\{|<|\\[)[^)\\s]?[^)\\s]?(?:data|prompt|history|conversation|secret|key|token|info|summary|text|message|content|password|email|user)',
    ],
    { within: 80 },
  ),
]
