// For runtimes with a command line.
import { runTests } from './suite.mjs'

console.log(JSON.stringify(await runTests()))
