// For workerd, as `workerd test` calls it.
import { runTests } from './suite.mjs'

export default {
  async test() {
    console.log(JSON.stringify(await runTests()))
  },
}
