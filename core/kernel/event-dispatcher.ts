import { randomUUID } from 'node:crypto'
import type { BatchHandler, Handler, Log, Metrics, Subscription } from 'pounce/sdk'
import type { AbsentConsumer, Outbox } from 'pounce/sdk/store-kit'
import type { RetryRule } from './consumer-loop.ts'
import { ConsumerLoop, type ConsumerWork, type LoopTools } from './consumer-loop.ts'
import type { BuiltPlugin } from './container.ts'

/** One handler class of one plugin, made. */
export interface HandlerInstance {
  readonly plugin: string
  readonly subscription: Subscription
  readonly instance: object
}

/** The name under which a handler's progress is stored: `resources.search/index-changes`. */
export const consumerName = ({ plugin, subscription }: Pick<HandlerInstance, 'plugin' | 'subscription'>): string =>
  `${plugin}/${subscription.name}`

const workOf = (handler: HandlerInstance): ConsumerWork => {
  const name = consumerName(handler)
  if (handler.subscription.isBatch) {
    const by = handler.instance as BatchHandler
    const { maxGatherMs } = handler.subscription
    return { name, handleAll: events => by.handleAll(events), ...(maxGatherMs !== undefined && { maxGatherMs }) }
  }
  const by = handler.instance as Handler<never>
  return { name, handle: event => by.handle(event as never) }
}

const lookMs = 20

/** Hands the outbox's events to all handlers of this kernel. */
export class EventDispatcher {
  readonly #outbox: Outbox
  readonly #loops: readonly ConsumerLoop[]
  #unsubscribe: () => void = () => undefined
  #isRunning = false

  constructor(
    handlers: readonly HandlerInstance[],
    tools: { readonly outbox: Outbox; readonly log: Log; readonly metrics: Metrics; readonly retry?: RetryRule },
  ) {
    this.#outbox = tools.outbox
    const loopTools: LoopTools = { ...tools, owner: randomUUID() }
    this.#loops = handlers.map(handler => new ConsumerLoop(workOf(handler), loopTools))
  }

  start(): void {
    this.#isRunning = true
    this.#unsubscribe = this.#outbox.onCommitted(consumers => this.#wakeAll(consumers))
    for (const loop of this.#loops) loop.start()
  }

  async stop(): Promise<void> {
    if (!this.#isRunning) return
    this.#isRunning = false
    this.#unsubscribe()
    await Promise.all(this.#loops.map(loop => loop.stop()))
  }

  /** How many events wait in all for the handlers of this kernel. */
  async waiting(): Promise<Readonly<Record<string, number>>> {
    const waiting = await this.#outbox.waiting()
    return Object.fromEntries(this.#loops.map(({ work: { name } }) => [name, waiting[name] ?? 0]))
  }

  /** Resolves when no event waits any more; parked ones do not count. Rejects after `limitMs`, naming what waits. */
  async drained(limitMs = 10_000): Promise<void> {
    const until = performance.now() + limitMs
    for (;;) {
      this.#wakeAll()
      const busy = this.#loops.some(({ inFlight }) => inFlight > 0)
      const waiting = Object.entries(await this.waiting()).filter(([, count]) => count > 0)
      if (!busy && waiting.length === 0 && this.#loops.every(({ inFlight }) => inFlight === 0)) return
      if (performance.now() > until) throw new Error(await this.#report(limitMs, waiting))
      await new Promise(resolve => setTimeout(resolve, lookMs))
    }
  }

  async #report(limitMs: number, waiting: readonly (readonly [string, number])[]): Promise<string> {
    const parked = await this.#outbox.deadLetters({ limit: 5 })
    const lines = [
      `Events still wait after ${limitMs / 1000} s: ${waiting.map(([name, count]) => `${name} ${count}`).join(', ') || 'some are being handled'}`,
      ...(this.#isRunning ? [] : ['nothing is dispatched here: the kernel has no role worker, or was stopped']),
      ...parked.map(({ consumer, event, error }) => `parked: ${event.type} for ${consumer}: ${error}`),
    ]
    return lines.join('\n')
  }

  #wakeAll(consumers?: ReadonlySet<string>): void {
    for (const loop of this.#loops) if (consumers?.has(loop.work.name) ?? true) loop.wake()
  }
}

/** Events that are kept for a consumer that no one has loaded, in words for the operator. */
export interface KeptEvents extends AbsentConsumer {
  readonly kept: string
  readonly remedy: string
}

const whatIsKept = ({ waiting, oldest }: AbsentConsumer): string =>
  waiting === 0 ? 'no event waits' : `${waiting} events wait, the oldest since ${oldest}`

const remedyFor = ({ consumer }: AbsentConsumer): string =>
  `its plugin is not loaded: load it, or drop them with \`pounce events forget ${consumer}\``

/** For whom events are kept; without an outbox for no one. */
export const keptEvents = async (outbox: Outbox | undefined): Promise<readonly KeptEvents[]> =>
  ((await outbox?.absent()) ?? []).map(one => ({ ...one, kept: whatIsKept(one), remedy: remedyFor(one) }))

/** Declares the handlers of this kernel in the outbox, removes former ones, and logs absent consumers. */
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
