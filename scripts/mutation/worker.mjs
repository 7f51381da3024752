// Setup file of the tests: tells each mutant whether it is the active one, and notes which test reaches which.
import { afterEach, beforeEach, inject } from 'vitest'

/** A test that asks more often is in an endless loop. */
const maxQuestions = 20_000_000

const active = inject('mutant')
/** Mutants that code outside of the tests reaches, such as that of modules. */
const ofFile = new Set()
let reached = ofFile
/** Files may share their modules, and with them the first function that these were given. */
globalThis.mutantQuestions = 0

globalThis.isActiveMutant ??=
  active === undefined
    ? (id) => {
        reached.add(id)
        globalThis.mutantQuestions++
        return false
      }
    : (id) => {
        if (++globalThis.mutantQuestions > maxQuestions) throw new Error('an endless loop')
        return id === active
      }

beforeEach(() => {
  reached = new Set()
  globalThis.mutantQuestions = 0
})

afterEach(({ task }) => {
  task.meta.reached = [...reached]
  // A mutant may double its work and is no endless loop yet.
  task.meta.isLong = globalThis.mutantQuestions > maxQuestions / 2
  task.file.meta.reached = [...ofFile]
  reached = ofFile
})
