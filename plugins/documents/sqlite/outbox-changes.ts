import type { Connection } from 'pounce/sdk/sqlite'
import type { Prepared } from './group-commit.ts'
import type { OutboxConsumer } from './outbox-consumer.ts'
import * as tables from './outbox-tables.ts'
import type { OutboxWiring } from './outbox-wiring.ts'

/** A change of the outbox's tables as one piece of work of the next transaction. Resolves once it is durable. */
export const change = (commits: OutboxWiring['commits'], plan: () => Prepared): Promise<void> =>
  new Promise((resolve, reject) => {
    commits.add({
      refuse: reject,
      plan: () => {
        const { write, finish } = plan()
        return {
          write,
          finish: () => {
            finish()
            resolve()
          },
        }
      },
    })
  })

/** Makes a parked event due again, or drops it. */
export const settlingParked = (
  tools: { readonly db: Connection; readonly due: number; prunedTo(): string; news(): void },
  consumer: OutboxConsumer,
  event: string,
  how: 'retry' | 'drop',
): Prepared => {
  const { db, due } = tools
  const applies = tables.isParked(db, consumer.id, event)
  return {
    write: () => {
      if (!applies) return
      if (how === 'drop') tables.removeFailure(db, consumer.id, event, tools.prunedTo())
      else tables.writeFailure(db, { consumer: consumer.id, event, attempts: 0, due, error: '', parkedAt: null })
    },
    finish: () => {
      if (!applies || how !== 'retry') return
      consumer.retries.set(event, { attempts: 0, due })
      consumer.waiting++
      tools.news()
    },
  }
}
