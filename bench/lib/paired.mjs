/** Measures every job once in each round, in another order each time, so that a busy moment hits all alike. */
export function paired(title, jobs, count, measure) {
  for (const job of jobs) measure(job) // fills the caches of the file system
  return Array.from({ length: count }, (_, round) => {
    process.stderr.write(`${title}: round ${round + 1} of ${count}\n`)
    const start = round % jobs.length
    const order = [...jobs.slice(start), ...jobs.slice(0, start)]
    return new Map(order.map((job) => [job, measure(job)]))
  })
}
