const text = JSON.stringify(
  Array.from({ length: 20_000 }, (_, n) => ({ id: n, name: `thing ${(n * 7919) % 20_000}`, list: [n, n + 0.5, `${n}`] })),
)

/** CPU time of the work below on a machine from 2023, in ms: the reference for limits in ms. */
const nominalMs = 45

const workMs = (): number => {
  const before = process.threadCpuUsage()
  const things = JSON.parse(text) as { readonly name: string }[]
  things.sort((a, b) => (a.name < b.name ? -1 : 1))
  JSON.stringify(things).replace(/thing (\d+)/g, '$1')
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}

/**
 * The current slowdown of this machine relative to the reference, at least 1, due to slow hardware or contention for caches. Limits in ms are
 * multiplied by it, so that they do not depend on the machine.
 */
export const slowness = (): number => Math.max(1, ...[workMs(), workMs(), workMs()].map(ms => ms / nominalMs))
