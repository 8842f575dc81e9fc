import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { TestFetch } from 'pounce/sdk/testing'
import { eachOf } from '../support/killed-server.ts'
import { newDataset, ok } from '../support/scene.ts'
import { drained, until } from '../support/until.ts'

export const switchedPlugin = fileURLToPath(new URL('./switched-plugin', import.meta.url))

const id = 'test.switched-plugin'
const address = `/api/admin/plugins/${id}`

/** The known state of a plugin; undefined while it is switched, or when a kill has cut off the response. */
type Known = 'on' | 'off' | undefined

interface Shown {
  readonly id: string
  readonly enabled: boolean
  readonly state: string
}

/** Clients of a server whose plugin is being switched. They verify every response. */
export class Switching {
  /** Faults, one line each. */
  readonly faults: string[] = []
  readonly counts = { switches: 0, cutOff: 0, on: 0, off: 0, datasets: 0 }
  #call: TestFetch
  #known: Known = 'on'
  /** Incremented at each switch and each kill: a request that spans one may have either response. */
  #era = 0
  #wanted: 'on' | 'off' = 'on'
  /** The state after the last acknowledged switch. */
  #last: 'on' | 'off' = 'on'
  #isOver = false
  #number = 0
  #acked: string[] = []

  constructor(call: TestFetch) {
    this.#call = call
  }

  /** Uses the plugin and creates events for it until `stop`. */
  async work(clients: number): Promise<void> {
    await Promise.all([this.#makeEvents(), ...Array.from({ length: clients }, () => this.#echo())])
  }

  stop(): void {
    this.#isOver = true
  }

  /** The server is down from now on until `returned`. */
  killed(): void {
    this.#known = undefined
    this.#era += 1
  }

  /** Verifies that a restarted server has the state of the last acknowledged switch, or of the one whose response was cut off. */
  async returned(): Promise<void> {
    const { state, enabled } = await this.#shown()
    if (![this.#last, this.#wanted].includes(state as 'on') || enabled !== (state === 'on'))
      this.faults.push(`after a kill it is ${state}, enabled ${enabled}; it was ${this.#last} and should become ${this.#wanted}`)
    this.#settle(state === 'on' ? 'on' : 'off')
  }

  /** Resolves to false if a kill cuts off the response. */
  async switch(): Promise<boolean> {
    this.#wanted = this.#last === 'on' ? 'off' : 'on'
    this.#known = undefined
    this.#era += 1
    let answer: Shown
    try {
      answer = await ok<Shown>(this.#call(address, { method: 'PUT', json: { enabled: this.#wanted === 'on' } }))
    } catch (error) {
      if (!(error instanceof TypeError)) this.faults.push(`a switch was refused: ${String(error)}`)
      this.counts.cutOff += 1
      return false
    }
    if (answer.state !== this.#wanted) this.faults.push(`switched ${this.#wanted}, it is ${answer.state}`)
    this.counts.switches += 1
    this.#settle(this.#wanted)
    return true
  }

  /** Switches it on, waits until all events are handled, and verifies that each dataset was recorded. */
  async finish(): Promise<void> {
    if (this.#last === 'off') await this.switch()
    await drained(path => this.#call(path), 60_000)
    this.counts.datasets = this.#acked.length
    await eachOf(this.#acked, async dataset => {
      const { seen } = await ok<{ seen: boolean }>(this.#call(`/api/switched/seen/${dataset}`))
      if (!seen) this.faults.push(`the event of dataset ${dataset} is lost`)
    })
  }

  #settle(state: 'on' | 'off'): void {
    this.#era += 1
    this.#last = state
    this.#wanted = state
    this.#known = state
  }

  async #shown(): Promise<Shown> {
    const plugins = await ok<readonly Shown[]>(this.#call('/api/admin/plugins'))
    return plugins.find(one => one.id === id) as Shown
  }

  async #echo(): Promise<void> {
    while (!this.#isOver) {
      this.#number += 1
      const number = this.#number
      const [known, era] = [this.#known, this.#era]
      let answer: { readonly status: number; readonly body: { readonly number?: number; readonly code?: string } }
      try {
        const response = await this.#call(`/api/switched/echo/${number}`)
        answer = { status: response.status, body: (await response.json()) as object }
      } catch (error) {
        if (era === this.#era && known !== undefined) this.faults.push(`echo ${number} failed while it was ${known}: ${String(error)}`)
        await pause(10)
        continue
      }
      this.#check(number, answer, era === this.#era ? known : undefined)
    }
  }

  #check(number: number, { status, body }: { status: number; body: { number?: number; code?: string } }, known: Known): void {
    const isRight = status === 200 && body.number === number
    const isAbsent = status === 404 && body.code === 'no-such-address'
    if (isRight) this.counts.on += 1
    if (isAbsent) this.counts.off += 1
    if ((!isRight && !isAbsent) || (known === 'on' && !isRight) || (known === 'off' && !isAbsent))
      this.faults.push(`echo ${number} while it was ${known}: ${status} ${JSON.stringify(body)}`)
  }

  async #makeEvents(): Promise<void> {
    while (!this.#isOver) {
      try {
        this.#acked.push(await newDataset(this.#call))
      } catch (error) {
        if (!(error instanceof TypeError)) this.faults.push(`a dataset was refused: ${String(error)}`)
      }
      await pause(5)
    }
  }

  /** Resolves after `more` further responses, or at the first fault. */
  async answered(more: number): Promise<void> {
    const enough = this.counts.on + this.counts.off + more
    await until('requests to be answered', () => this.faults.length > 0 || this.counts.on + this.counts.off >= enough)
  }
}
