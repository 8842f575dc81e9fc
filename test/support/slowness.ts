const text = JSON.stringify(
  Array.from({ length: 20_000 }, (_, n) => ({ id: n, name: `thing ${(n * 7919) % 20_000}`, list: [n, n + 0.5, `${n}`] })),
)

/** What the work below takes of the CPU of a machine from 2023, in ms: limits in ms are meant for such a one. */
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
 * How many times as long computing takes here and now, at least 1: a slow machine, or one whose caches others use. What is compared with a limit that was
 * multiplied by this depends on what is done, not on where.
 */
export const slowness = (): number => Math.max(1, ...[workMs(), workMs(), workMs()].map(ms => ms / nominalMs))
