// Runs with the bundle in every runtime: vitest's own runner, without vitest around it.

const config = {
  root: '/',
  setupFiles: [],
  sequence: { hooks: 'stack', setupFiles: 'list', concurrent: false, shuffle: false },
  // For tests that hang, as in `vitest.config.ts`.
  testTimeout: 60_000,
  hookTimeout: 60_000,
  maxConcurrency: 1,
  retry: 0,
  allowOnly: false,
  passWithNoTests: false,
  expect: {},
  fakeTimers: { loopLimit: 10_000, shouldClearNativeTimers: true },
  tags: [],
}

/** Runs the tests of files that are yet to be loaded. What it returns can be sent as JSON. */
export async function runTestFiles(files) {
  const { processError, setSafeTimers, startTests } = await loadRunner()
  setSafeTimers() // what the runner itself waits with while a test holds the clock
  const unhandled = []
  onUnhandledRejection((reason) => unhandled.push(textOf(processError(reason))))

  // A test may wait for a timer that keeps no process alive. The limits of tests are such timers, too.
  const alive = setInterval(() => {}, 1000)
  const suites = await startTests(Object.keys(files), {
    config,
    importFile: (path) => files[path](),
  }).finally(() => clearInterval(alive))
  // A rejection counts as unhandled only after the microtasks of its turn.
  await new Promise((resolve) => setTimeout(resolve, 10))

  return {
    // Node 20 has no `navigator`.
    agent: globalThis.navigator?.userAgent ?? `Node.js/${process.versions.node}`,
    tests: suites.flatMap((suite) => outcomesOf(suite, [suite.name])),
    unhandled,
  }
}

async function loadRunner() {
  // oxlint-disable-next-line no-underscore-dangle -- where vitest's parts look for each other
  globalThis.__vitest_worker__ = {
    config,
    ctx: {},
    evaluatedModules: { idToModuleMap: new Map() },
  }
  // It looks for colours in the environment, which Deno gives to nobody unasked.
  const { process } = globalThis
  globalThis.process = { env: { NO_COLOR: '1' } }
  try {
    return await import('vitest/internal/browser')
  } finally {
    globalThis.process = process
  }
}

function outcomesOf(suite, names) {
  const outcomes = suite.tasks.flatMap((task) =>
    task.type === 'suite'
      ? outcomesOf(task, [...names, task.name])
      : [outcomeOf(task, [...names, task.name])],
  )
  // A file that does not load or holds no test, a hook that throws: a failure without a failed test.
  if (suite.result?.errors?.length > 0) outcomes.push(outcomeOf(suite, names))
  return outcomes
}

function outcomeOf({ mode, result }, names) {
  const state = result?.state ?? mode
  return {
    name: names.join(' > '),
    state:
      state === 'pass' ? 'passed' : state === 'skip' || state === 'todo' ? 'skipped' : 'failed',
    errors: (result?.errors ?? []).map(textOf),
  }
}

function textOf({ name, message, stack, diff }) {
  const text = stack?.includes(message) ? stack : `${name}: ${message}\n${stack ?? ''}`
  return diff ? `${text}\n${diff}` : text
}

function onUnhandledRejection(listener) {
  if (globalThis.process?.on) {
    globalThis.process.on('unhandledRejection', listener)
    return
  }
  globalThis.addEventListener('unhandledrejection', (event) => {
    event.preventDefault()
    listener(event.reason)
  })
}
