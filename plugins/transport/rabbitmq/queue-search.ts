import { setTimeout as pause } from 'node:timers/promises'
import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib'
import { withBrokerTimeLimit } from './broker-time-limit.ts'
import { textOf } from './text-of.ts'

/** The result of a search. When it is closed, or when we crash, all messages except those taken return to their positions. */
export interface Search {
  readonly found: readonly ConsumeMessage[]
  /** The whole queue was read. */
  readonly isComplete: boolean
  /** Number of consumers before the search. */
  readonly consumers: number
  /** Removes a found message from the queue for good. */
  take(message: ConsumeMessage): void
  close(): Promise<void>
}

/** The limits of a search. */
export interface SearchLimits {
  /** How long to wait for messages. */
  readonly timeMs: number
  /** How long to wait for other responses of the broker; then the search fails. */
  readonly answerMs: number
  /** Maximum number of messages to find. */
  readonly wanted: number
}

const quietMs = 100
const maxMessages = 60_000

/**
 * Searches a queue without changing it: all messages are fetched without acknowledgement, and those not taken return unchanged to their
 * positions, even if we crash meanwhile. Clowder 1.x moves the rest through a queue `clowder.jobs.temp`
 * and republishes it, which loses unbound messages, the reply address, the order and, in a crash, everything. Undefined when there
 * is no such queue.
 */
export async function searchQueue(
  model: ChannelModel,
  queue: string,
  isWanted: (content: Buffer) => boolean,
  limits: SearchLimits,
): Promise<Search | undefined> {
  const looking = look(model, queue, isWanted, limits)
  try {
    return await withBrokerTimeLimit(looking, limits.timeMs + limits.answerMs)
  } catch (error) {
    // Messages that arrive late must not stay with us.
    looking.then(search => search?.close()).catch(() => undefined)
    throw error
  }
}

async function look(
  model: ChannelModel,
  queue: string,
  isWanted: (content: Buffer) => boolean,
  { timeMs, answerMs, wanted }: SearchLimits,
): Promise<Search | undefined> {
  const channel = await quietChannel(model)
  const info = await ifThere(channel, queue)
  if (!info) return undefined
  const found: ConsumeMessage[] = []
  let seen = 0
  let last = performance.now()
  const until = last + timeMs
  const maxTaken = Math.min(info.messageCount, maxMessages)
  let isOver = maxTaken === 0
  let isEmptied = isOver
  if (!isOver) {
    await channel.prefetch(maxTaken)
    const { consumerTag } = await channel.consume(
      queue,
      message => {
        seen += 1
        last = performance.now()
        if (!message || seen >= maxTaken) isOver = true
        if (message && found.length < wanted && isWanted(message.content)) found.push(message)
        if (found.length >= wanted) isOver = true
      },
      // At a higher priority than the extractor, so that it does not get some of the messages.
      { priority: 10 },
    )
    while (!isOver && performance.now() < until) {
      await pause(2)
      if (performance.now() - last < quietMs) continue
      // Either other consumers hold the rest, or the broker is slow.
      isEmptied = (await channel.checkQueue(queue)).messageCount === 0
      if (isEmptied) break
      last = performance.now()
    }
    await channel.cancel(consumerTag)
  }
  return {
    found,
    isComplete: isEmptied || seen >= info.messageCount,
    consumers: info.consumerCount,
    take: message => channel.ack(message),
    close: () => withBrokerTimeLimit(channel.close(), answerMs),
  }
}

/** The broker's statistics of queues, as far as time allowed; undefined for those that do not exist. */
export async function countQueues(
  model: ChannelModel,
  queues: Iterable<string>,
  timeMs: number,
): Promise<ReadonlyMap<string, { readonly messages: number; readonly consumers: number } | undefined>> {
  const counts = new Map<string, { messages: number; consumers: number } | undefined>()
  const until = performance.now() + timeMs
  let channel = await quietChannel(model)
  for (const queue of queues) {
    if (performance.now() > until) break
    const info = await ifThere(channel, queue)
    counts.set(queue, info && { messages: info.messageCount, consumers: info.consumerCount })
    // The broker closes the channel on a request for a queue that does not exist.
    if (!info) channel = await quietChannel(model)
  }
  await channel.close()
  return counts
}

/** Whether the broker has a queue. */
export async function queueExists(model: ChannelModel, queue: string): Promise<boolean> {
  const channel = await quietChannel(model)
  const info = await ifThere(channel, queue)
  if (info) await channel.close()
  return info !== undefined
}

/** A channel whose closing is not logged: the call that caused it reports it. */
async function quietChannel(model: ChannelModel): Promise<Channel> {
  const channel = await model.createChannel()
  channel.on('error', () => undefined)
  return channel
}

async function ifThere(channel: Channel, queue: string) {
  try {
    return await channel.checkQueue(queue)
  } catch (error) {
    // 404: not found. 405: exclusive to another connection.
    if (error instanceof Error && 'code' in error && (error.code === 404 || error.code === 405)) return undefined
    throw new Error(`the queue ${queue} cannot be read: ${textOf(error)}`, { cause: error })
  }
}
