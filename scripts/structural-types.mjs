// Takes the mark of private members out of the declarations of the package in the current folder. With
// it, a class of one installed copy is another type than the same class of another copy; without it, two
// copies fit each other, as they do at run time. Lines stay where they are, for the declaration maps.
import { globSync, readFileSync, writeFileSync } from 'node:fs'

for (const file of globSync('dist/**/*.d.ts')) {
  const text = readFileSync(file, 'utf8')
  const open = text.replaceAll(/^( *)#private;$/gm, '$1// Private members are left out.')
  if (open !== text) writeFileSync(file, open)
}
