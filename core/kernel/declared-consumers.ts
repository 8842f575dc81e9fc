import type { AbsentConsumer, Log, Outbox } from 'pounce/sdk'
import type { BuiltPlugin } from './container.ts'
import { consumerName, type HandlerInstance } from './event-dispatcher.ts'

/** Events that are kept for a consumer that nobody has loaded, in words for the operator. */
export interface KeptEvents extends AbsentConsumer {
  readonly kept: string
  readonly remedy: string
}

const whatIsKept = ({ waiting, oldest }: AbsentConsumer): string =>
  waiting === 0 ? 'no event waits' : `${waiting} events wait, the oldest since ${oldest}`

const remedyFor = ({ consumer }: AbsentConsumer): string =>
  `its plugin is not loaded: load it, or drop them with \`pounce events forget ${consumer}\``

/** For whom events are kept; without an outbox for nobody. */
export const keptEvents = async (outbox: Outbox | undefined): Promise<readonly KeptEvents[]> =>
  ((await outbox?.absent()) ?? []).map(one => ({ ...one, kept: whatIsKept(one), remedy: remedyFor(one) }))

/** Names the handlers of this kernel to the outbox, forgets those that plugins say are gone, and says for whom events are kept. */
export const declareHandlers = async (
  outbox: Outbox,
  handlers: readonly HandlerInstance[],
  built: readonly BuiltPlugin[],
  log: Log,
): Promise<void> => {
  await outbox.declareConsumers(handlers.map(one => ({ name: consumerName(one), types: one.subscription.types })))
  for (const { name, plugin } of built) for (const former of plugin.formerHandlers ?? []) await outbox.forget(`${name}/${former}`)
  for (const one of await outbox.absent())
    if (one.waiting > 0) log.warn('Events are stored for a consumer that is not loaded', { ...one, remedy: remedyFor(one) })
}
