import { creditCard } from './credit-card.ts'
import { cryptoAddress } from './crypto-address.ts'
import { email } from './email.ts'
import { euIds } from './eu-ids.ts'
import { iban } from './iban.ts'
import { ipAddress } from './ip-address.ts'
import { macAddress } from './mac-address.ts'
import { phone } from './phone.ts'
import type { Recognizer } from '../base/recognizer.ts'
import { secret } from './secrets.ts'
import { url } from './url.ts'
import { abaRouting, ssn, usIds } from './us-ids.ts'
import { worldIds } from './world-ids.ts'

/** Group of kinds. */
export type EntityGroup =
  | 'contact'
  | 'financial'
  | 'gov-id-us'
  | 'gov-id-eu'
  | 'gov-id-world'
  | 'network'
  | 'secrets'

const groups: Readonly<Record<EntityGroup, readonly Recognizer[]>> = {
  contact: [email, phone],
  financial: [creditCard, iban, abaRouting, cryptoAddress],
  'gov-id-us': usIds,
  'gov-id-eu': euIds,
  'gov-id-world': worldIds,
  network: [ipAddress, macAddress],
  secrets: [secret],
}

/** A group, a kind such as `email`, or a recognizer of your own. */
export type Entity = EntityGroup | (string & {}) | Recognizer

/** Default of `entities`. */
export const defaultEntities: readonly EntityGroup[] = [
  'contact',
  'financial',
  'gov-id-us',
  'network',
  'secrets',
]

const kinds = new Map(
  [...Object.values(groups).flat(), url, ssn].map((recognizer) => [recognizer.kind, recognizer]),
)

/** Names of all groups and kinds. */
export const entityNames: readonly string[] = [...Object.keys(groups), ...kinds.keys()]

/** Returns the recognizers of an entity, or `undefined` for an unknown name. */
export function recognizersOf(entity: Entity): readonly Recognizer[] | undefined {
  if (typeof entity === 'object') return [entity]
  if (Object.hasOwn(groups, entity)) return groups[entity as EntityGroup]
  const recognizer = kinds.get(entity)
  return recognizer && [recognizer]
}

/** Returns the kinds of a group, or the kind of that name. */
export function kindsOf(name: string): readonly string[] {
  return (recognizersOf(name) ?? []).map(({ kind }) => kind)
}
