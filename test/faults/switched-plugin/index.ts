import { setTimeout as pause } from 'node:timers/promises'
import { CommitConflict, collection, DocumentStore, definePlugin, on, routesFor, s, wire } from 'pounce/sdk'

const seen = collection<{ readonly id: string }>('test.switched-plugin.seen')

/** Records every dataset once, however often its event is delivered. */
class WriteDown {
  readonly #documents: DocumentStore

  constructor(documents: DocumentStore) {
    this.#documents = documents
  }

  async handle({ subject }: { readonly subject: { readonly id: string } }): Promise<void> {
    try {
      await this.#documents.commit({ insert: { id: subject.id }, into: seen })
    } catch (error) {
      if (!(error instanceof CommitConflict && error.reason === 'exists')) throw error
    }
  }
}
wire(WriteDown, DocumentStore)

const route = routesFor('switched', { documents: DocumentStore })

/** Takes some time, so that a switch happens during running requests. */
export const echo = route({
  method: 'GET',
  path: '/api/switched/echo/:number',
  summary: 'Show the number',
  permission: 'anyone',
  params: s.Object({ number: s.Integer() }),
  responses: { 200: s.Object({ number: s.Integer() }) },
  async handle({ params }) {
    await pause(params.number % 20)
    return { status: 200, body: { number: params.number } }
  },
})

export const isSeen = route({
  method: 'GET',
  path: '/api/switched/seen/:id',
  summary: 'Show whether a dataset was written down',
  permission: 'anyone',
  params: s.Object({ id: s.id() }),
  responses: { 200: s.Object({ seen: s.Boolean() }) },
  async handle({ params }, { documents }) {
    return { status: 200, body: { seen: (await documents.get(seen, params.id)) !== undefined } }
  },
})

/** A test plugin that is switched on and off under load. */
export const plugin = definePlugin({
  id: 'test.switched-plugin',
  summary: 'Echoes numbers, and writes down datasets.',
  isSwitchable: true,
  routes: { echo, isSeen },
  collections: [seen],
  handlers: [on('dataset.created', WriteDown, 'write-down')],
})
