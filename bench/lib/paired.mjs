/** Measures every job once in each round, in another order each time, so that a busy moment hits all alike. */
export function paired(jobs, count, measure) {
  for (const job of jobs) measure(job) // fills the caches of the file system
  return Array.from({ length: count }, (_, round) => {
    const start = round % jobs.length
    const order = [...jobs.slice(start), ...jobs.slice(0, start)]
    return new Map(order.map((job) => [job, measure(job)]))
  })
}

export function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
}
