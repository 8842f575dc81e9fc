import { Invalid } from 'pounce/sdk'
import type { DeadLetter, Outbox } from 'pounce/sdk/store-kit'
import type { CommandContext, RunCommand } from './built-in.ts'
import { makeKernel, withKernel } from './kernel-session.ts'

const maxDeadLetters = 1000

const withOutbox = async <T>(context: CommandContext, work: (outbox: Outbox) => Promise<T>): Promise<T> =>
  withKernel(context, await makeKernel(context), { until: 'store' }, async ({ outbox }) => {
    if (!outbox) throw new Invalid('No loaded plugin stores events')
    return work(outbox)
  })

const rowOf = ({ event, consumer, attempts, error, parkedAt }: DeadLetter) => ({
  event: event.id,
  consumer,
  type: event.type,
  subject: `${event.subject.kind}/${event.subject.id}`,
  attempts,
  parkedAt,
  error,
})

/** `pounce events dead-letters`. */
export const listDeadLetters: RunCommand = context =>
  withOutbox(context, async outbox => {
    const limit = Number(context.options['limit'] ?? 100)
    if (!Number.isInteger(limit) || limit < 1 || limit > maxDeadLetters)
      throw new Invalid(`--limit must be a number from 1 to ${maxDeadLetters}`)
    return (await outbox.deadLetters({ limit })).map(rowOf)
  })

const settle =
  (how: 'retry' | 'drop'): RunCommand =>
  context =>
    withOutbox(context, async outbox => {
      const { consumer } = context.arguments
      const { event } = context.options
      let count = 0
      // Each iteration removes its events from the list.
      for (;;) {
        const found = await outbox.deadLetters({ limit: maxDeadLetters })
        const chosen = found.filter(
          one => (consumer === 'all' || one.consumer === consumer) && (event === undefined || one.event.id === event),
        )
        if (chosen.length === 0) break
        for (const one of chosen) await outbox.settleDeadLetter(one.consumer, one.event.id, how)
        count += chosen.length
        context.progress(`${count} events`)
      }
      if (count === 0) throw new Invalid('No matching dead letter: `pounce events dead-letters` lists them')
      return how === 'retry' ? { retried: count } : { dropped: count }
    })

/** `pounce events retry`: redelivered by the running server. */
export const retryDeadLetters = settle('retry')

/** `pounce events drop`. */
export const dropDeadLetters = settle('drop')

/** `pounce events forget`. */
export const forgetConsumer: RunCommand = context =>
  withOutbox(context, async outbox => {
    const { consumer = '' } = context.arguments
    const absent = await outbox.absent()
    const found = absent.find(one => one.consumer === consumer)
    // The outbox itself refuses a loaded consumer.
    await outbox.forget(consumer)
    if (!found)
      throw new Invalid(
        absent.length === 0
          ? 'No events are kept: all consumers are loaded'
          : `Unknown consumer ${consumer}; events are kept for ${absent.map(one => one.consumer).join(', ')}`,
      )
    return { forgotten: consumer, dropped: found.waiting }
  })
