import type { Tree } from './tree.ts'

const clock =
  /\bperformance\.now\(|\bprocess\.(?:hrtime|cpuUsage|threadCpuUsage)\b|\bDate\.now\(\) - /g
const shortNeedle = /(?:\.not\.toContain|JSON\.stringify\([^()]*\)\.includes)\('[\da-f]{1,4}'\)/g

/**
 * Tests that fail now and then: those that measure time fail on a machine with other work, and a short text may be
 * part of a random id or port.
 */
export function testsByLuck(tree: Tree): string[] {
  return [...tree]
    .filter(([path]) => path.endsWith('.test.ts') && !path.startsWith('scripts/conventions/'))
    .flatMap(([path, text]) => [
      ...[...text.matchAll(clock)].map(
        ([found]) => `${path}: ${found} measures time; count work with \`countedWork\``,
      ),
      ...[...text.matchAll(shortNeedle)].map(
        ([found]) => `${path}: ${found} may be part of a random id`,
      ),
    ])
}
