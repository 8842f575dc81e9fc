import { EventEmitter } from 'node:events'
import { Readable } from 'node:stream'
import { type Bytes, routesFor, s } from 'pounce/sdk'

const route = routesFor('faults', {})
const failing = (after: number): Readable => {
  let sent = 0
  return new Readable({
    read() {
      if (sent < after) this.push(Buffer.alloc(1000))
      else this.destroy(new Error('a stream that breaks'))
      sent += 1
    },
  })
}

const faults: Readonly<Record<string, () => void>> = {
  throw: () => {
    throw new Error('secret words of a bug')
  },
  timer: () =>
    void setTimeout(() => {
      throw new Error('a timer that throws')
    }, 1),
  promise: () => void Promise.reject(new Error('a promise that nobody waits for')),
  listener: () => {
    const emitter = new EventEmitter()
    emitter.on('said', () => {
      throw new Error('a listener that throws')
    })
    setImmediate(() => emitter.emit('said'))
  },
  stream: () => void failing(2).resume(),
}

export const causeFault = route({
  method: 'GET',
  path: '/api/faults/cause/:kind',
  summary: 'Fails in the way that is requested, mostly after the answer',
  permission: 'anyone',
  params: s.Object({ kind: s.String() }),
  responses: { 200: s.success() },
  async handle({ params }) {
    faults[params.kind]?.()
    return { status: 200, body: { status: 'success' } }
  },
})

export const brokenBytes = route({
  method: 'GET',
  path: '/api/faults/bytes/:after',
  summary: 'Bytes whose source fails after so many thousand of them',
  permission: 'anyone',
  params: s.Object({ after: s.Integer() }),
  responses: { 200: s.bytes<Bytes>() },
  async handle({ params }) {
    const body: Bytes = { open: async () => failing(params.after), sizeBytes: 100_000, contentType: 'application/octet-stream' }
    return { status: 200, body }
  },
})

async function* brokenRows(after: number) {
  for (let n = 0; n < after; n += 1) yield { n }
  throw new Error('rows that break')
}

export const failingRows = route({
  method: 'GET',
  path: '/api/faults/rows/:after',
  summary: 'So many rows, then a failure',
  permission: 'anyone',
  params: s.Object({ after: s.Integer() }),
  responses: { 200: s.rows(s.Object({ n: s.Integer() })) },
  async handle({ params }) {
    return { status: 200, body: brokenRows(params.after) }
  },
})
