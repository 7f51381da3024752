import { patternRecognizer } from '../base/recognizer.ts'
import type { Recognizer } from '../base/recognizer.ts'

/** Recognizes hardware addresses, EUI-48 and EUI-64, in the usual notations. */
export const macAddress: Recognizer = patternRecognizer({
  kind: 'mac',
  pattern:
    /(?<![A-Za-z\d:.-])(?:[\da-f]{2}(?<mark>[:-])[\da-f]{2}(?:\k<mark>[\da-f]{2}){4}(?:\k<mark>[\da-f]{2}\k<mark>[\da-f]{2})?(?![:-][\da-f]{2}(?!\w))|(?<!\b[\da-f]{2} )[\da-f]{2}(?: [\da-f]{2}){5}(?: [\da-f]{2} [\da-f]{2})?(?! [\da-f]{2}(?!\w))|[\da-f]{4}(?:\.[\da-f]{4}){2,3}(?!\.\w))(?!\w)/i,
  context: /\b(?:mac|ethernet|hardware|device|physical|bssid|wi-?fi|nic|interface)\b/i,
  check: (match, before) => {
    const hex = match.replace(/[^\da-f]/gi, '')
    // The address for no device, and what is said to be the one for every device.
    if (/^0+$/.test(hex) || /broadcast[\s:=-]{0,3}$/i.test(before)) return false
    if (match.includes(' ')) return /[a-f]/i.test(hex) ? 0.6 : 0.3
    return match.includes('.') && !/[a-f]/i.test(hex) ? 0.3 : 0.85
  },
})
