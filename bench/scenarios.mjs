// The cases of each scenario. A case is a row; the runner interleaves the peers inside it.

const middlewareCounts = [0, 1, 3, 10, 30]

const modelCalls = [
  ...middlewareCounts.map((k) => ({ id: `k=${k}`, method: 'modelCall', params: { k } })),
  {
    id: 'one middleware of 100',
    method: 'modelCall',
    params: { k: 0 },
    more: { params: { k: 100 }, by: 100 },
  },
]

const agentRuns = [0, 3].flatMap((k) => [
  { id: `1 tool round, k=${k}`, method: 'agentRun', params: { rounds: 1, parallel: 1, k } },
  { id: `10 tool rounds, k=${k}`, method: 'agentRun', params: { rounds: 10, parallel: 1, k } },
  { id: `16 parallel calls, k=${k}`, method: 'agentRun', params: { rounds: 1, parallel: 16, k } },
])

const streams = [
  ...[1000, 20_000].flatMap((chunks) =>
    [0, 3, 10, 30].map((k) => ({
      id: `${chunks} updates, k=${k}`,
      method: 'stream',
      params: { chunks, k },
      per: chunks,
    })),
  ),
  ...[0, 10].map((k) => ({
    id: `first of 1000, k=${k}`,
    method: 'stream',
    params: { chunks: 1000, k },
    measure: 'first',
  })),
  ...[0, 10].map((k) => ({
    id: `lead over a slow reader, k=${k}`,
    method: 'stream',
    params: { chunks: 5000, k },
    measure: 'lead',
  })),
]

export const scenarios = {
  A: { title: 'time of a model call through k middlewares', cases: modelCalls },
  B: { title: 'time of an agent run, k middlewares at each level', cases: agentRuns },
  C: { title: 'time of an update through k transforming middlewares', cases: streams },
}

/** Scenario M. */
export const longStream = { chunks: 200_000, middlewareCounts: [0, 10] }
