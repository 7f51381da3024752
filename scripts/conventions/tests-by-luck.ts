import type { Tree } from './tree.ts'

/** Shortest limit, in milliseconds of the clock, that a busy machine keeps. */
const leastMs = 2000

const clockLimit = /\b(?:performance|Date)\.now\(\) - \w+\)\.toBeLessThan\(([\d_]+)\)/g
const shortNeedle = /\.not\.toContain\('(?=[a-f]*\d)[\da-f]{1,4}'\)/g

/**
 * Tests that fail now and then: on a machine with other work, or where a random id or port happens to
 * contain what they search for.
 */
export function testsByLuck(tree: Tree): string[] {
  return [...tree]
    .filter(([path]) => path.endsWith('.test.ts') && !path.startsWith('scripts/conventions/'))
    .flatMap(([path, text]) => [
      ...[...text.matchAll(clockLimit)]
        .filter(([, ms]) => Number(ms!.replaceAll('_', '')) < leastMs)
        .map(([, ms]) => `${path}: ${ms} ms of the clock; allow ${leastMs}, or use \`quickest\``),
      ...[...text.matchAll(shortNeedle)].map(
        ([found]) => `${path}: ${found} may be part of a random id`,
      ),
    ])
}
