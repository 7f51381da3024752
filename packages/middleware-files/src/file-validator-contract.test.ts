import { describeContract, middlewareContract } from '@lamella/testing'
import { describe, it } from 'vitest'
import { fileValidator } from './index.ts'

describeContract(
  middlewareContract({ create: () => fileValidator({ paths: { roots: ['/'] }, contents: true }) }),
  { describe, it },
)
