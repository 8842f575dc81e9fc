const parts = 8
const attempts = 6
/** Some systems count CPU time in ticks of 10 ms: what is compared takes longer. */
const leastMs = 15
const mostRounds = 4096

/** CPU time of this thread in ms: what others do on the machine is not in it. */
const cpuMs = (rounds: number, work: () => unknown): number => {
  const before = process.threadCpuUsage()
  for (let round = 0; round < rounds; round += 1) work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/**
 * True when work of a size costs about as much as eight pieces of an eighth of it, on whatever machine. What is quadratic costs eight times as much.
 * Both are measured in turns and the best of each counts: what disturbs one turn is gone in another one.
 */
export const growsLinearly = (work: (size: number) => unknown, size: number): boolean => {
  const inPieces = (): void => {
    for (let part = 0; part < parts; part += 1) work(Math.ceil(size / parts))
  }
  let rounds = 1
  while (rounds < mostRounds && cpuMs(rounds, inPieces) < leastMs) rounds *= 2
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
