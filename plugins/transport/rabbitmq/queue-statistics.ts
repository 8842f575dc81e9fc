import type { ChannelModel } from 'amqplib'
import type { Log } from 'pounce/sdk'
import type { QueueStatistics } from 'pounce/sdk/kit'
import { withBrokerTimeLimit } from './broker-time-limit.ts'
import { countQueues } from './queue-search.ts'
import type { RabbitJobRepository } from './rabbit-job-repository.ts'

const maxQueues = 1000
const none = { waiting: 0, running: 0, dead: 0 }

/** Statistics of queues that have jobs, bindings or heartbeats: from our records, and from the broker while it is available. */
export async function queueStatistics(parts: {
  readonly repository: RabbitJobRepository
  readonly model: ChannelModel | undefined
  readonly alsoNamed: readonly string[]
  readonly timeoutMs: number
  readonly log: Log
}): Promise<readonly QueueStatistics[]> {
  const own = await parts.repository.counts()
  const names = [...new Set([...own.keys(), ...parts.alsoNamed])].sort().slice(0, maxQueues)
  const there = await countsAtBroker(parts, [...names, ...names.map(name => `error.${name}`)])
  return names.map(queue => {
    const { waiting, running, dead } = own.get(queue) ?? none
    const live = there.get(queue)
    return {
      queue,
      // Others may publish to the same queue, and our jobs may not have arrived yet.
      waiting: Math.max(waiting, live?.messages ?? 0),
      running,
      consumers: live?.consumers ?? 0,
      dead: Math.max(dead, there.get(`error.${queue}`)?.messages ?? 0),
    }
  })
}

async function countsAtBroker(
  { model, timeoutMs, log }: { readonly model: ChannelModel | undefined; readonly timeoutMs: number; readonly log: Log },
  queues: readonly string[],
): ReturnType<typeof countQueues> {
  if (!model || queues.length === 0) return new Map()
  try {
    return await withBrokerTimeLimit(countQueues(model, queues, timeoutMs / 2), timeoutMs)
  } catch (error) {
    log.warn('Failed to get queue sizes from the broker', { error })
    return new Map()
  }
}
