// Writes everything that is generated from the sources, and formats: what a change needs before it is sent.
// usage: npm run fix
import { execFileSync } from 'node:child_process'

const steps = {
  'option tables': ['node', 'scripts/write-option-tables.ts'],
  'limits of the documentation': ['node', 'scripts/documentation.ts', '--update'],
  'the page of pictures': ['node', 'packages/picture/scripts/build-page.mjs'],
  'packages, for their types': ['turbo', 'run', 'build', '--output-logs=errors-only'],
  'reports of public types': ['node', 'scripts/api-report.mjs', '--update'],
  lint: ['oxlint', '--fix'],
  format: ['biome', 'format', '--write', '--colors=off'],
}

for (const [name, [command, ...args]] of Object.entries(steps)) {
  try {
    execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe' })
    console.log(`ok      ${name}`)
  } catch (error) {
    // The next steps may still help, such as the format while a type is wrong.
    console.log(`FAILED  ${name}\n${error.stdout}${error.stderr}`)
    process.exitCode = 1
  }
}
const changed = execFileSync('git', ['diff', '--stat'], { encoding: 'utf8' })
console.log(changed === '' ? 'Nothing is left to write.' : `\n${changed}`)
console.log('If a released package behaves differently now, add a changeset: npm run changeset')
