import { randomUUID } from 'node:crypto'
import type { BatchHandler, Handler, Log, Metrics, Subscription } from 'pounce/sdk'
import type { Outbox } from 'pounce/sdk/store-kit'
import type { RetryRule } from './consumer-loop.ts'
import { ConsumerLoop, type ConsumerWork, type LoopTools } from './consumer-loop.ts'

/** An instance of a plugin's handler class. */
export interface HandlerInstance {
  readonly plugin: string
  readonly subscription: Subscription
  readonly instance: object
}

/** The stored name of a handler's progress: `resources.search/index-changes`. */
export const consumerName = ({ plugin, subscription }: Pick<HandlerInstance, 'plugin' | 'subscription'>): string =>
  `${plugin}/${subscription.name}`

const workOf = (handler: HandlerInstance): ConsumerWork => {
  const name = consumerName(handler)
  if (handler.subscription.isBatch) {
    const by = handler.instance as BatchHandler
    return { name, handleAll: events => by.handleAll(events), maxDelayMs: handler.subscription.maxDelayMs }
  }
  const by = handler.instance as Handler<never>
  return { name, handle: event => by.handle(event as never) }
}

const pollMs = 20

/** Dispatches events from the outbox to all handlers of this kernel. */
export class EventDispatcher {
  readonly #tools: LoopTools
  #loops: readonly { readonly plugin: string; readonly loop: ConsumerLoop }[] = []
  #unsubscribe: () => void = () => undefined
  #isRunning = false

  constructor(
    handlers: readonly HandlerInstance[],
    tools: { readonly outbox: Outbox; readonly log: Log; readonly metrics: Metrics; readonly retry?: RetryRule },
  ) {
    this.#tools = { ...tools, owner: randomUUID() }
    this.add(handlers)
  }

  start(): void {
    this.#isRunning = true
    this.#unsubscribe = this.#tools.outbox.onCommitted(consumers => this.#wakeAll(consumers))
    for (const { loop } of this.#loops) loop.start()
  }

  /** Adds the handlers of a plugin. */
  add(handlers: readonly HandlerInstance[]): void {
    const added = handlers.map(handler => ({ plugin: handler.plugin, loop: new ConsumerLoop(workOf(handler), this.#tools) }))
    this.#loops = [...this.#loops, ...added]
    if (this.#isRunning) for (const { loop } of added) loop.start()
  }

  /** Stops the handlers of one plugin: they finish their current events, and later ones wait. */
  async remove(name: string): Promise<void> {
    const removed = this.#loops.filter(({ plugin }) => plugin === name)
    this.#loops = this.#loops.filter(one => !removed.includes(one))
    if (this.#isRunning) await Promise.all(removed.map(({ loop }) => loop.stop()))
  }

  async stop(): Promise<void> {
    if (!this.#isRunning) return
    this.#isRunning = false
    this.#unsubscribe()
    await Promise.all(this.#loops.map(({ loop }) => loop.stop()))
  }

  /** Resolves when no event is waiting, dead letters excepted. Rejects after `limitMs` with the consumers that still have waiting events. */
  async drained(limitMs = 10_000): Promise<void> {
    const until = performance.now() + limitMs
    for (;;) {
      this.#wakeAll()
      const isBusy = () => this.#loops.some(({ loop }) => loop.inFlight > 0)
      const busy = isBusy()
      const all = await this.#tools.outbox.waiting()
      const waiting = this.#loops.map(({ loop: { work } }) => [work.name, all[work.name] ?? 0] as const).filter(([, count]) => count > 0)
      if (!busy && waiting.length === 0 && !isBusy()) return
      if (performance.now() > until) throw new Error(await this.#report(limitMs, waiting))
      await new Promise(resolve => setTimeout(resolve, pollMs))
    }
  }

  async #report(limitMs: number, waiting: readonly (readonly [string, number])[]): Promise<string> {
    const deadLetters = await this.#tools.outbox.deadLetters({ limit: 5 })
    const lines = [
      `Events still waiting after ${limitMs / 1000} s: ${waiting.map(([name, count]) => `${name} ${count}`).join(', ') || 'some are being handled'}`,
      ...(this.#isRunning ? [] : ['this kernel dispatches no events: it does not have the role worker, or was stopped']),
      ...deadLetters.map(({ consumer, event, error }) => `dead letter: ${event.type} for ${consumer}: ${error}`),
    ]
    return lines.join('\n')
  }

  #wakeAll(consumers?: ReadonlySet<string>): void {
    for (const { loop } of this.#loops) if (consumers?.has(loop.work.name) ?? true) loop.wake()
  }
}
