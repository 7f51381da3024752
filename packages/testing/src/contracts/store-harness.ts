import type { KeyValueStore } from '@lamella/core'
import type { ContractCheck } from './contract-suite.ts'

/** A store under test. */
export interface StoreHarness {
  /** Empty, or at least without keys that begin with `contract:`. */
  readonly store: KeyValueStore
  /** Lets time pass for the store. Without it, expiry is not checked. */
  readonly advance?: ((ms: number) => void | Promise<void>) | undefined
  /**
   * Makes the network between the store and its database fail, such as by a `FaultProxy`. Each of the
   * store's waits must end within `settleMs`. Without it, failures are not checked.
   */
  readonly fail?:
    | ((fault: 'none' | 'hang' | 'refuse' | 'lose-replies' | 'garbage') => void | Promise<void>)
    | undefined
  /**
   * Milliseconds within which each call settles, whatever the database does.
   * @default 5000
   */
  readonly settleMs?: number | undefined
  /** Replaces the value of a key with one that is no entry of this store. Without it, that is not checked. */
  readonly corrupt?: ((key: string) => void | Promise<void>) | undefined
  /** Makes a second store on the same data, as another process would. */
  readonly again?: (() => KeyValueStore | Promise<KeyValueStore>) | undefined
  /** Ends what the harness began. */
  readonly close?: (() => void | Promise<void>) | undefined
}

/** Makes checks of a store, each with a harness of its own. */
export type StoreCheck = (
  title: string,
  body: (store: KeyValueStore, harness: StoreHarness) => Promise<void>,
  needs?: (harness: StoreHarness) => unknown,
) => ContractCheck

/** Key of most checks. */
export const contractKey = 'contract:entry'
