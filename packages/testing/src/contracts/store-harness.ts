import type { KeyValueStore } from '@lamella/core'
import type { ContractCheck } from './contract-suite.ts'

/** A store under test. */
export interface StoreHarness {
  /** The store, without keys that begin with `contract:`. */
  readonly store: KeyValueStore
  /** Advances the time of the store. Without it, expiry is not checked. */
  readonly advance?: ((ms: number) => void | Promise<void>) | undefined
  /**
   * Makes the network between the store and its database fail, for example with a `FaultProxy`.
   * Each wait of the store must end within `settleMs`. Without it, failures are not checked.
   */
  readonly fail?:
    | ((fault: 'none' | 'hang' | 'refuse' | 'lose-replies' | 'garbage') => void | Promise<void>)
    | undefined
  /**
   * Milliseconds within which each call must settle, also while the database fails.
   * @default 5000
   */
  readonly settleMs?: number | undefined
  /**
   * Replaces the value of a key with one that is not an entry of this store. Without it, invalid
   * entries are not checked.
   */
  readonly corrupt?: ((key: string) => void | Promise<void>) | undefined
  /** Creates a second store on the same data, as another process would. */
  readonly again?: (() => KeyValueStore | Promise<KeyValueStore>) | undefined
  /** Frees the resources of the harness. */
  readonly close?: (() => void | Promise<void>) | undefined
}

/** Creates checks of a store, each with its own harness. */
export type StoreCheck = (
  title: string,
  body: (store: KeyValueStore, harness: StoreHarness) => Promise<void>,
  needs?: (harness: StoreHarness) => unknown,
) => ContractCheck

/** Key of most checks. */
export const contractKey = 'contract:entry'
