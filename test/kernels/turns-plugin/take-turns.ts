import { setTimeout as pause } from 'node:timers/promises'
import { Clock, collection, DocumentStore, Ids, routesFor, s, wire } from 'pounce/sdk'

/** A step of a kernel's turn. */
export interface Step {
  readonly pid: number
  readonly turn: string
  readonly at: string
}
export const steps = collection<Step>()('test.steps', { byTime: { on: ['at'] } })

/** A turn takes thirty steps unless it is aborted. */
export class TakeTurns {
  #documents: DocumentStore
  #ids: Ids
  #clock: Clock

  constructor(documents: DocumentStore, ids: Ids, clock: Clock) {
    this.#documents = documents
    this.#ids = ids
    this.#clock = clock
  }

  async run(signal: AbortSignal): Promise<void> {
    const turn = this.#ids.next()
    for (let n = 0; n < 30 && !signal.aborted; n += 1) {
      const insert = { id: this.#ids.next(), pid: process.pid, turn, at: this.#clock.now().toISOString() }
      await this.#documents.commit({ insert, into: steps })
      await pause(20)
    }
  }
}
wire(TakeTurns, DocumentStore, Ids, Clock)

/** The last steps, in order. */
export const listSteps = routesFor('test', { documents: DocumentStore })({
  method: 'GET',
  path: '/api/test/steps',
  summary: 'Steps that were taken',
  permission: 'anyone',
  responses: { 200: s.Array(s.Object({ pid: s.Integer(), turn: s.String() })) },
  async handle(_request, { documents }) {
    const { items } = await documents.find(steps, { using: 'byTime', sort: { by: 'at', order: 'descending' }, limit: 200 })
    return { status: 200, body: items.toReversed().map(({ pid, turn }) => ({ pid, turn })) }
  },
})
