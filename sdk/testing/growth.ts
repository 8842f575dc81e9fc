const parts = 8
const attempts = 6
/** Some systems measure CPU time in ticks of 10 ms, so measurements must take longer. */
const leastMs = 15
const maxRounds = 4096

/** CPU time of this thread in ms, excluding other processes and threads. */
const cpuMs = (rounds: number, work: () => unknown): number => {
  const before = process.threadCpuUsage()
  for (let round = 0; round < rounds; round += 1) work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/**
 * True if work of a given size costs about as much as eight times an eighth of it, on any machine; quadratic work costs eight times as much. The two
 * measurements alternate and the best of each is used, to exclude temporary disturbances.
 */
export const growsLinearly = (work: (size: number) => unknown, size: number): boolean => {
  const inPieces = (): void => {
    for (let part = 0; part < parts; part += 1) work(Math.ceil(size / parts))
  }
  let rounds = 1
  while (rounds < maxRounds && cpuMs(rounds, inPieces) < leastMs) rounds *= 2
  let [whole, pieces] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    pieces = Math.min(pieces, cpuMs(rounds, inPieces))
    whole = Math.min(
      whole,
      cpuMs(rounds, () => work(size)),
    )
    if (whole <= 3 * Math.max(pieces, leastMs / 2)) return true
  }
  return false
}
